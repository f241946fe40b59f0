// SPDX-License-Identifier: Apache-2.0
// What the verbs know, asked for in as few rounds as may be: each kubectl logs in anew, and that
// takes a second where a program has to be asked for a token.
#pragma once

#include "plugin/commands.h"

namespace cronlatch::plugin {

enum class Scope {
  gated_runs,  // ls: CronJobs, gated pods, Events of skips
  all_of_it,   // describe, why: Jobs, all pods and all Events of the namespace
};

Result<Cluster> gather(const Arguments& arguments, const Surroundings& around, Scope scope);

// "-n shop", "-A", or nothing: kubectl's own namespace.
std::vector<std::string> namespace_flags(const Arguments& arguments);

}  // namespace cronlatch::plugin
