// SPDX-License-Identifier: Apache-2.0
// The configuration file. Oracles: every setting is a row of the table and has a line number; every
// error begins with the position; the printed form of an accepted value is accepted again and has
// the same meaning.
#include <algorithm>

#include "config/yaml.h"
#include "fuzz/oracle.h"
#include "options/options.h"

namespace {

using namespace cronlatch;

constexpr std::string_view kPath = "/etc/cronlatch.yaml";

void shown_value_is_accepted(const Setting& setting) {
  Options options;
  const Status status = set_option(options, *setting.option, setting.text);
  if (!status) {
    fuzz::must(fuzz::is_one_line(status.error().message), "an error is one line");
    return;
  }
  const std::string shown = show_option(options, *setting.option);
  Options again;
  if (shown.empty()) return;
  fuzz::must(set_option(again, *setting.option, shown).ok(), "a printed value is accepted");
  fuzz::must(show_option(again, *setting.option) == shown, "a printed value has the same meaning");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const Result<std::vector<Setting>> settings =
      yaml_settings(std::string(kPath), std::string(fuzz::text_of(bytes, size)));
  if (!settings) {
    fuzz::must(settings.error().message.starts_with(kPath), "an error begins with the position");
    fuzz::must(fuzz::is_one_line(settings.error().message), "an error is one line");
    return 0;
  }
  std::vector<std::string_view> keys;
  for (const Setting& setting : *settings) {
    fuzz::must(setting.option != nullptr, "a setting is a row of the table");
    fuzz::must(setting.origin.starts_with(kPath), "a setting has the path of its file");
    keys.push_back(setting.option->key);
    shown_value_is_accepted(setting);
  }
  std::sort(keys.begin(), keys.end());
  fuzz::must(std::adjacent_find(keys.begin(), keys.end()) == keys.end(),
             "no key is accepted twice");
  return 0;
}
