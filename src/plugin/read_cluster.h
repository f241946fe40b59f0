// SPDX-License-Identifier: Apache-2.0
// Reads what the verbs need of the cluster, in as few rounds as possible: each kubectl
// authenticates anew, which takes about a second with a credential plugin.
#pragma once

#include "plugin/arguments.h"
#include "plugin/context.h"

namespace cronlatch::plugin {

enum class ReadScope {
  gated_runs,       // ls: CronJobs, gated pods, Events of skips
  whole_namespace,  // describe, why: Jobs, all pods and all Events of the namespace
};

Result<Cluster> read_cluster(const Arguments& arguments, const Context& context, ReadScope scope);

// "-n shop", "-A", or nothing, for kubectl's own namespace.
std::vector<std::string> namespace_flags(const Arguments& arguments);

}  // namespace cronlatch::plugin
