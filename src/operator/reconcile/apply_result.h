// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cronlatch::op {

// already_exists: a previous leader recorded the Event. retry: execute all decisions again later.
enum class ApplyResult { done, already_exists, retry };

}  // namespace cronlatch::op
