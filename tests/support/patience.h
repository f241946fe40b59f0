// SPDX-License-Identifier: Apache-2.0
// How long tests wait for what takes a moment.
#pragma once

#include <chrono>

namespace cronlatch::testing {

// Long enough for a busy machine; nothing waits for it when all is well.
inline constexpr std::chrono::milliseconds kPatience{20'000};

}  // namespace cronlatch::testing
