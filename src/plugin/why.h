// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch why CRONJOB`: why the last run did not start, or did not do its work: one
// cause and its fix, then further findings. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugin/cluster.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

struct RunFinding {
  std::string code;  // of a closed list (docs/kubectl.md): "suspended", "skipped", ...
  std::string what;  // the cause, with names and times
  std::string next;  // the fix; empty: none is needed
  bool operator==(const RunFinding&) const = default;
};

// "kubectl -n NAMESPACE WORDS", a command that a finding recommends.
std::string kubectl_in(const std::string& namespace_name, const std::string& words);

struct Explanation {
  std::string about;                 // "the run of 2026-11-21T02:00:00Z (Job nightly-29397720)"
  std::vector<RunFinding> findings;  // the cause first; never empty
};

// The finding where the cause needs a list that kubectl could not read.
// REQUIRES: `cluster` names it in `unreadable`.
RunFinding unreadable_cause(const Cluster& cluster, const CronJob& cronjob);

// REQUIRES: `cronjob` is one of the cluster's; its namespace's Jobs, pods and Events are there, or
// named in `unreadable`.
Explanation explain_last_run(const Cluster& cluster, const CronJob& cronjob);

Output why_output(const Cluster& cluster, const CronJob& cronjob);

}  // namespace cronlatch::plugin
