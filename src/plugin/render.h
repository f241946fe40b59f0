// SPDX-License-Identifier: Apache-2.0
// An Output as text in the requested format. Pure.
#pragma once

#include <string>

#include "plugin/arguments.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

// An output without JSON, the help, is text in every format.
std::string render(const Output& output, OutputFormat format);

// Block style, as `kubectl get -o yaml`. A string that YAML could read as another type is quoted.
std::string to_yaml(const kube::Json& value);

}  // namespace cronlatch::plugin
