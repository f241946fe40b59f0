// SPDX-License-Identifier: Apache-2.0
// The time limit of waits in tests.
#pragma once

#include <chrono>

namespace cronlatch::testing {

// Sufficient for a busy machine; a test reaches it only when it fails.
inline constexpr std::chrono::milliseconds kPatience{20'000};

}  // namespace cronlatch::testing
