// SPDX-License-Identifier: Apache-2.0
// The wait of the tests: for a condition, with a deadline.
#pragma once

#include <chrono>
#include <functional>

#include "support/patience.h"

namespace cronlatch::testing {

// Polls until `condition` holds; false when `limit` passed without it.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = kPatience);

}  // namespace cronlatch::testing
