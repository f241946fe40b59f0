// SPDX-License-Identifier: Apache-2.0
// The Events that the operator records for a run of the real program.
#pragma once

#include <string>
#include <vector>

namespace cronlatch::testing {

// An Event on the Job of a run, and on its CronJob. `note`: a regular expression.
struct ExpectedEvent {
  std::string type, reason, note;
};
// That the operator records these for a pod with this termination message, and no others.
// `counted`: how many errors "unreachable" it counts. Without the operator in the build nothing is
// checked.
void expect_events(const std::string& message_file, int exit_code,
                   const std::vector<ExpectedEvent>& expected, const std::string& counted);

}  // namespace cronlatch::testing
