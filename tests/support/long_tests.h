// SPDX-License-Identifier: Apache-2.0
// Whether the long form of tests runs: `./dev test all` sets LONG_TESTS. The name does not begin
// with CRONLATCH_, because the program refuses unknown variables with that prefix.
#pragma once

#include <cstdlib>

namespace cronlatch::testing {

inline bool is_long_run() { return std::getenv("LONG_TESTS") != nullptr; }

}  // namespace cronlatch::testing
