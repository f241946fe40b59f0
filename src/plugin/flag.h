// SPDX-License-Identifier: Apache-2.0
// The flags of the plugin, one row each, and the names of the global flags of kubectl, which the
// plugin passes on. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/arguments.h"

namespace cronlatch::plugin {

struct Flag {
  std::string_view name;        // "--namespace"
  std::string_view short_name;  // "-n"; empty: none
  std::string_view value;       // "NAMESPACE", as the help displays it; empty: a switch
  std::string_view help;
  // A switch without a value is set to "true".
  Status (*set)(Arguments& arguments, const std::string& value);
  bool is_switch() const { return value.empty(); }
};
std::span<const Flag> flag_table();
std::vector<std::string> output_formats();  // the values of --output

// A global flag of kubectl (`kubectl options`).
struct KubectlFlag {
  std::string_view name, short_name;
  bool is_switch = false;
};
std::span<const KubectlFlag> kubectl_flag_table();

}  // namespace cronlatch::plugin
