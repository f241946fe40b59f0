// SPDX-License-Identifier: Apache-2.0
// The source tree of the tests. A function and no macro, so that the compiler cache can be used by
// another clone.
#pragma once

#include <string>

namespace cronlatch::testing {

std::string source_dir();

}  // namespace cronlatch::testing
