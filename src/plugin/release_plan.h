// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch release`: the lock, its holder, and the Job that revokes the lease in the
// cluster, where the store and its Secret are. Pure. The operator's page is read-only. A user who
// may create Jobs in a namespace may already use its Secret, so the Job grants no additional right.
#pragma once

#include <optional>
#include <string>

#include "kube/json.h"
#include "plugin/cluster.h"

namespace cronlatch::plugin {

// The store access of a gated pod or Job.
struct PodStoreAccess {
  std::string image, pull_policy;
  std::vector<std::string> pull_secrets;
  kube::Json store_volume;         // with the credentials, as in the pod; null: none is mounted
  std::vector<std::string> flags;  // the options of the store, as in the pod
};
// From the spec of a pod; empty if it is not gated.
std::optional<PodStoreAccess> store_access(const kube::Json& pod_spec);
// The volume for StoreAccess::store_volume with this Secret.
kube::Json secret_volume(const std::string& secret);

// From the argument: a CronJob's name, or a lock's name with its slash.
struct ReleaseTarget {
  std::string lock;            // its name in the store
  std::string namespace_name;  // where the Job runs
};
// Code::usage for a name that is neither, or for a CronJob that is not gated.
Result<ReleaseTarget> release_target(const Cluster& cluster, const std::string& name,
                                     const std::string& namespace_name);

enum class ReleaseWait { until_free, no };
// Named by the API server (generateName), conforms to Pod Security's restricted, and is deleted
// five minutes after its end, also if the plugin was terminated.
kube::Json release_job(const ReleaseTarget& target, const PodStoreAccess& access,
                       ReleaseWait waiting);

// "held by shop/nightly-29-abc since ..., lease until ...", as far as it is available.
std::string holder_text(const Cluster& cluster, const std::string& lock);
// No command runs with the lock; only its min-hold keeps it closed.
bool is_cooling(const Cluster& cluster, const std::string& lock);

}  // namespace cronlatch::plugin
