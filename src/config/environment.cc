// SPDX-License-Identifier: Apache-2.0
// The variables of cronlatch. Unknown ones are refused, so that a typing error does not silently
// change a setting.
#include "config/environment.h"

#include <algorithm>

#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::string_view kPrefix = "CRONLATCH_";
// Kubernetes sets variables for every Service of a namespace in its pods, and a Service may be
// named cronlatch or cronlatch-operator: CRONLATCH_SERVICE_HOST,
// CRONLATCH_OPERATOR_PORT_443_TCP_ADDR, ...
bool is_service_link(std::string_view name) {
  const auto ends = [&](std::string_view with) { return name.ends_with(with); };
  if (ends("_SERVICE_HOST") || ends("_PORT") ||
      name.find("_SERVICE_PORT") != std::string_view::npos)
    return true;
  const std::size_t at = name.find("_PORT_");
  return at != std::string_view::npos && at + 6 < name.size() && name[at + 6] >= '0' &&
         name[at + 6] <= '9';
}

const Option* option_of(std::string_view name) {
  for (const Option& option : option_table())
    if (variable_of(option) == name) return &option;
  return nullptr;
}

Error unknown_variable(std::string_view name) {
  const Error error = unknown_key("unknown variable " + printable(name, 80),
                                  name.substr(kPrefix.size()), variable_of);
  return {error.code, error.message, error.hint + "; `--isolated` ignores the environment"};
}

}  // namespace

std::string_view variable_name(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::optional<std::string> variable(std::span<const std::string> environment,
                                    std::string_view name) {
  for (const std::string& entry : environment)
    if (variable_name(entry) == name && entry.size() > name.size())
      return entry.substr(name.size() + 1);
  return std::nullopt;
}

Result<std::vector<Setting>> environment_settings(std::span<const std::string> environment) {
  std::vector<Setting> settings;
  for (const std::string& entry : environment) {
    if (!entry.starts_with(kPrefix)) continue;
    const std::string name(variable_name(entry));
    if (std::find(kNoOptionVariables.begin(), kNoOptionVariables.end(), name) !=
        kNoOptionVariables.end())
      continue;
    const Option* const option = option_of(name);
    if (option == nullptr && is_service_link(name)) continue;
    if (option == nullptr) return unknown_variable(name);
    const bool again = std::any_of(settings.begin(), settings.end(),
                                   [&](const Setting& s) { return s.option == option; });
    if (!again)
      settings.push_back(
          {option, variable(environment, name).value_or(""), "environment " + name, name});
  }
  return settings;
}

}  // namespace cronlatch
