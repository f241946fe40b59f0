// SPDX-License-Identifier: Apache-2.0
#include "admission/settings_page.h"

#include "admission/settings.h"

namespace cronlatch::op {
namespace {

constexpr char kHead[] = R"(# Settings of the operator

Rendered from the table in `src/admission/settings.cc` by `./dev gen`; not edited.

One YAML file, `/etc/cronlatch/operator.yaml` unless `cronlatch-operator --config FILE` names another one. The chart renders it from its values. An unknown
key, a duplicate key and an invalid value are errors with the line; the operator then does not start. Annotations of tenants cannot change a setting.

| key | default | meaning |
|---|---|---|
)";

// A pipe would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

Page settings_page() {
  std::string text = kHead;
  for (const SettingRow& row : setting_rows()) {
    const std::string fallback = row.fallback.empty() ? "" : "`" + cell(row.fallback) + "`";
    text += "| `" + std::string(row.key) + "` | " + fallback + " | " + cell(row.help) + " |\n";
  }
  return {"docs/reference/operator.md", text};
}

}  // namespace cronlatch::op
