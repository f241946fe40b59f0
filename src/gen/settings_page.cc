// SPDX-License-Identifier: Apache-2.0
// docs/reference/operator.md.
#include "admission/settings.h"
#include "gen/markdown.h"
#include "gen/pages.h"

namespace cronlatch::gen {

std::string settings_page() {
  std::string text =
      "# Settings of the operator\n\n" + generated_from("`src/admission/settings.cc`") + R"(
The operator reads one YAML file: `/etc/cronlatch/operator.yaml`, or the file in `cronlatch-operator --config FILE`. The
chart renders it from its values. An unknown key, a duplicate key and an invalid value are errors. The message contains
the line, and the operator does not start. Users configure their CronJobs with annotations; no annotation changes a
setting.

)" + header({"key", "default", "allowed", "meaning"});
  for (const op::SettingRow& setting : op::setting_rows())
    text += row({code(setting.key), setting.fallback.empty() ? "" : code(setting.fallback),
                 std::string(setting.limits), std::string(setting.help)});
  return text;
}

}  // namespace cronlatch::gen
