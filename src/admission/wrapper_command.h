// SPDX-License-Identifier: Apache-2.0
// The wrapper's command line in a gated container. Every option is a flag after --isolated, so that
// the image and the pod's environment cannot change the store, the checks or the lock.
#pragma once

#include <string>
#include <vector>

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/lock_request.h"

namespace cronlatch::op {

// Variables of the container, set by the kubelet from the pod's fields. They are the variables of
// options of one run, so the wrapper removes them from the command's environment.
inline constexpr std::string_view kPodNameVariable = "CRONLATCH_HOLDER";
inline constexpr std::string_view kJobUidVariable = "CRONLATCH_ATTEMPT_GROUP";
// The completion index, a part of attempt-group and once-per. The Job controller's
// JOB_COMPLETION_INDEX has the same value only if the manifest does not set that variable.
inline constexpr std::string_view kIndexVariable = "CRONLATCH_ONCE_PER";

// ["/cronlatch-bin/cronlatch", "run", "--isolated", ..., "--"], without the user's command.
// `outcome_file` is the container's terminationMessagePath.
std::vector<std::string> wrapper_command(const JobView& job, const LockRequest& request,
                                         const Settings& settings, const std::string& outcome_file,
                                         Findings& findings);

// `text` escaped for command and args: the kubelet replaces $(NAME) and reads $$ as one $.
std::string kubelet_escaped(std::string_view text);

}  // namespace cronlatch::op
