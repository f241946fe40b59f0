// SPDX-License-Identifier: Apache-2.0
// The option command-by-arch: the images of one name for several architectures can have different
// commands. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "options/options.h"

namespace cronlatch {

// The architecture of this program, as in the label kubernetes.io/arch (Go's GOARCH). Set by the
// compiler: a node runs this image and the gated one for the same architecture.
std::string_view this_architecture();

// The option's entry for `architecture`, followed by `rest`; only `rest` without the option.
// Code::usage when there is no entry for this architecture, or when the result is empty.
Result<std::vector<std::string>> full_command(const Options& options, std::string_view architecture,
                                              std::vector<std::string> rest);

}  // namespace cronlatch
