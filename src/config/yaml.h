// SPDX-License-Identifier: Apache-2.0
// The configuration file: a flat YAML map of option keys. Catches every exception of yaml-cpp.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/setting.h"

namespace cronlatch {

// Code::config for text that is not a flat map (nested maps, sequences where none belong, a key
// twice, two documents); Code::usage for an unknown key. Every message begins with "path:line".
Result<std::vector<Setting>> yaml_settings(const std::string& path, const std::string& text);

}  // namespace cronlatch
