// SPDX-License-Identifier: Apache-2.0
// The option command-by-arch: one image name may stand for programs of several architectures, which
// need not begin with the same command. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "options/options.h"

namespace cronlatch {

// Which one this program was built for, in the words of the label kubernetes.io/arch (Go's GOARCH).
// Decided by the compiler: a node runs our image and the gated one for the same architecture.
std::string_view this_architecture();

// The option's words for `architecture`, and `rest` behind them; `rest` alone without the option.
// Code::usage when it has no entry for this architecture, or when no command comes of it.
Result<std::vector<std::string>> whole_command(const Options& options,
                                               std::string_view architecture,
                                               std::vector<std::string> rest);

}  // namespace cronlatch
