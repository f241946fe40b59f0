// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch why CRONJOB`: why did the last run not start, or not do its work? Pure: what
// the cluster shows in, one cause and what to do about it out, with what else is worth knowing.
#pragma once

#include <string>
#include <vector>

#include "plugin/cluster.h"
#include "plugin/page.h"

namespace cronlatch::plugin {

struct Finding {
  std::string code;  // of a closed list (docs/kubectl.md): "suspended", "skipped", ...
  std::string what;  // what happened, with names and times
  std::string next;  // what to do; empty: nothing
  bool operator==(const Finding&) const = default;
};

// "kubectl -n NAMESPACE WORDS": what a finding tells people to type.
std::string kubectl_in(const std::string& namespace_name, const std::string& words);

struct Why {
  std::string about;              // "the run of 2026-11-21T02:00:00Z (Job nightly-29397720)"
  std::vector<Finding> findings;  // the cause first; never empty
};

// REQUIRES: `cronjob` is one of the cluster's; its namespace's Jobs, pods and Events are there.
Why explain_last_run(const Cluster& cluster, const CronJob& cronjob);

Page why_page(const Cluster& cluster, const CronJob& cronjob);

}  // namespace cronlatch::plugin
