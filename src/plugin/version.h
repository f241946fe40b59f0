// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch version`: the version of the plugin. It starts no kubectl.
#pragma once

#include "plugin/arguments.h"
#include "plugin/context.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

Result<Output> version(const Arguments& arguments, const Context& context);

}  // namespace cronlatch::plugin
