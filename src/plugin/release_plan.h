// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch release`: which lock, who holds it, and the short-lived Job that revokes the
// lease from inside the cluster, where the store and its Secret are. Pure. The operator's page is
// read-only on purpose: whoever releases needs the right to create a Job in the lock's namespace,
// which is the right to use that namespace's Secret already.
#pragma once

#include <optional>
#include <string>

#include "kube/json.h"
#include "plugin/cluster.h"

namespace cronlatch::plugin {

// What a gated pod or Job shows of how its namespace reaches the store.
struct StoreAccess {
  std::string image, pull_policy;
  std::vector<std::string> pull_secrets;
  std::string secret;              // empty: none is mounted
  std::vector<std::string> flags;  // --store=..., --key-prefix=..., as the pod has them
};
// From the spec of a gated pod; nothing where it is not gated.
std::optional<StoreAccess> store_access(const kube::Json& pod_spec);

// What was asked for: a CronJob's name, or a lock's with its slash.
struct ReleaseTarget {
  std::string lock;            // as the store calls it
  std::string namespace_name;  // where the Job runs
};
// Code::usage for a name that is neither, or for a CronJob that is not gated.
Result<ReleaseTarget> release_target(const Cluster& cluster, const std::string& name,
                                     const std::string& namespace_name);

enum class Waiting { until_free, no };
// Named by the API server (generateName), restricted, gone five minutes after its end whatever
// becomes of us.
kube::Json release_job(const ReleaseTarget& target, const StoreAccess& access, Waiting waiting);

// "held by shop/nightly-29-abc since ..., lease until ...", as far as it is known; "free".
std::string holder_words(const Cluster& cluster, const std::string& lock);
// Whether nothing runs with the lock, and only its min-hold keeps it closed.
bool is_cooling(const Cluster& cluster, const std::string& lock);

}  // namespace cronlatch::plugin
