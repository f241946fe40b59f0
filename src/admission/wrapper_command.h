// SPDX-License-Identifier: Apache-2.0
// The wrapper's command line in a gated container: every decision is a flag behind --isolated, so
// nothing in the image or the pod's environment can change the store, the checks or the lock.
#pragma once

#include <string>
#include <vector>

#include "admission/findings.h"
#include "admission/lock_request.h"
#include "admission/job_view.h"

namespace cronlatch::op {

// Variables that we add to the container: facts that only a running pod knows. Both are names of
// options that describe one run, so the wrapper takes them out of the command's environment.
inline constexpr std::string_view kPodNameVariable = "CRONLATCH_HOLDER";
inline constexpr std::string_view kJobUidVariable = "CRONLATCH_ATTEMPT_GROUP";

// ["/cronlatch-bin/cronlatch", "run", "--isolated", ..., "--"]; the user's command follows.
// `outcome_file` is the container's terminationMessagePath.
std::vector<std::string> wrapper_command(const Workload& workload, const LockRequest& request,
                                         const Settings& settings, const std::string& outcome_file,
                                         Findings& findings);

// `text` as kubelet must read it to arrive unchanged: it replaces $(NAME) in command and args, and
// takes $$ for one $.
std::string kubelet_escaped(std::string_view text);

}  // namespace cronlatch::op
