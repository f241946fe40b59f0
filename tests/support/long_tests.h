// SPDX-License-Identifier: Apache-2.0
// Whether tests take their long form: `./dev test all` sets LONG_TESTS. The name has no prefix of
// the program's, which refuses variables that it does not know.
#pragma once

#include <cstdlib>

namespace cronlatch::testing {

inline bool is_long_run() { return std::getenv("LONG_TESTS") != nullptr; }

}  // namespace cronlatch::testing
