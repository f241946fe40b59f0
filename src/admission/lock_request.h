// SPDX-License-Identifier: Apache-2.0
// The lock that the annotations of one Job or CronJob request, with the platform's defaults. It
// cannot name a store or a file with credentials, or weaken the check of a certificate. It can name
// a Secret in its own namespace.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/annotations.h"
#include "admission/lock_names.h"
#include "admission/settings.h"
#include "base/result.h"
#include "options/options.h"

namespace cronlatch::op {

enum class Gate {
  absent,  // no annotation
  off,     // lock: "false"
  on,
};

struct LockRequest {
  Gate gate = Gate::absent;
  std::string lock;              // as in the annotation; empty: the CronJob's own
  std::string lock_where;        // the annotation that requests it
  bool has_invalid_lock{false};  // reported already
  LockScope scope = LockScope::in_namespace;
  // From the annotations, the platform's defaults and the table's. Without `lock` and `store`.
  Options options;
  std::set<std::string, std::less<>> annotated;  // options set by an annotation
  std::set<std::string, std::less<>> decided;    // options set by an annotation or the platform
  bool once_per_schedule = false;
  std::string container;
  std::string container_where;       // the annotation that names it
  std::vector<std::string> command;  // the image's ENTRYPOINT
  std::string command_where;         // the annotation with the command, also with an invalid value
  std::string store_secret;
  Millis alert_after{0};  // zero: from the schedule
  bool alerts_when_overdue = true;
};

// Checks every annotation, also where no lock is requested.
LockRequest read_lock_request(const Annotations& annotations, const Settings& settings,
                              std::string_view namespace_name, Findings& findings);

// The lock's name in the store. `cronjob` is "" for a Job without a CronJob; then `request.lock`
// must be set.
inline Result<std::string> full_lock_name(const LockRequest& request,
                                          const std::string& namespace_name,
                                          const std::string& cronjob) {
  return full_lock_name(request.scope, namespace_name,
                        request.lock.empty() ? cronjob : request.lock);
}

}  // namespace cronlatch::op
