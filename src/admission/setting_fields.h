// SPDX-License-Identifier: Apache-2.0
// From a YAML node to a field of Settings: one function for each type of field. The errors do not
// contain the key; the caller adds it.
#pragma once

#include <variant>

#include "admission/settings.h"
#include "config/yaml_tree.h"

namespace cronlatch::op {

using SettingField =
    std::variant<std::string Settings::*, bool Settings::*, Millis Settings::*,
                 std::size_t Settings::*, CertificateMode Settings::*, InjectionMode Settings::*,
                 LogFormat Settings::*, Level Settings::*, std::vector<std::string> Settings::*,
                 std::map<std::string, std::string> Settings::*,
                 std::map<std::string, std::vector<std::string>> Settings::*,
                 std::vector<Selection> Settings::*, kube::Json Settings::*>;

Status read_field(Settings& settings, const SettingField& field, const YamlNode& node);

}  // namespace cronlatch::op
