// SPDX-License-Identifier: Apache-2.0
// What a tenant wishes for one workload: annotations parsed, on top of the platform's defaults.
// Nothing in here can name a store, a file with credentials, or weaken the check of a certificate:
// the only such choice is the name of a Secret in the workload's own namespace.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/annotations.h"
#include "admission/settings.h"
#include "base/result.h"
#include "options/options.h"

namespace cronlatch::op {

enum class Gate {
  absent,  // nobody asked
  off,     // lock: "false"
  on,
};
enum class LockScope { in_namespace, cluster };

struct LockRequest {
  Gate gate = Gate::absent;
  std::string lock;  // as written; empty: the CronJob's own
  LockScope scope = LockScope::in_namespace;
  // Defaults of the table, of the platform, and the annotations. `lock` and `store` are not in it.
  Options options;
  std::set<std::string, std::less<>> annotated;  // options that an annotation decided
  std::set<std::string, std::less<>> decided;    // the same and those of the platform
  bool once_per_schedule = false;
  std::string container;
  std::string container_where;       // the annotation that names it
  std::vector<std::string> command;  // the image's ENTRYPOINT
  std::string store_secret;
  Millis alert_after{0};  // zero: none
};

// Checks every annotation, whether there is a lock or not.
LockRequest read_lock_request(const Annotations& annotations, const Settings& settings,
                              std::string_view namespace_name, Findings& findings);

// The name in the store. `cronjob` is empty where there is none; then only a named lock has one.
Result<std::string> full_lock_name(const LockRequest& request, const std::string& namespace_name,
                                   const std::string& cronjob);

// Why a platform's default may not be one, or Done.
Status check_default(const std::string& key, const std::string& value);

}  // namespace cronlatch::op
