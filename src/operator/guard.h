// SPDX-License-Identifier: Apache-2.0
// The uninstall guard: which CronJobs would run ungated, or not at all, without the operator. The
// chart asks before it is uninstalled (`cronlatch-operator guard`). Reads; changes nothing.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "kube/api.h"

namespace cronlatch::op {

// "namespace/name" of every CronJob that asks for a lock, in any of the three places, in order.
// An error where not all could be seen: then nobody may say that there is none.
Result<std::vector<std::string>> gated_cronjobs(kube::Api& api);

struct GuardAnswer {
  int exit_code;     // 0: nobody would miss the operator
  std::string text;  // for people, with the last line's end
};
GuardAnswer guard(kube::Api& api);

}  // namespace cronlatch::op
