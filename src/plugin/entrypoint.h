// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch entrypoint`: the ENTRYPOINT and CMD of an image, and the annotation with them.
// The image's registry is queried from the user's machine, with a program and the logins that the
// user has there.
#pragma once

#include "plugin/arguments.h"
#include "plugin/context.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

Result<Output> entrypoint(const Arguments& arguments, const Context& context);

}  // namespace cronlatch::plugin
