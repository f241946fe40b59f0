// SPDX-License-Identifier: Apache-2.0
// ObjectChange: a change of an object that a watcher reports. It contains what the Reconciler
// needs: of a finished pod its run, of a Job its CronJob. The watchers read the objects, each on
// its own thread, so that the many finished pods and Jobs of a cluster do not all wait for one
// thread and are never in memory at once.
#pragma once

#include <optional>
#include <string>

#include "kube/json.h"
#include "kube/object_ref.h"
#include "operator/reconcile/gated_run.h"
#include "operator/reconcile/pod_version.h"

namespace cronlatch::op {

enum class ObjectKind { cronjob, job, pod };

struct FinishedPod {
  GatedRun run;
  PodVersion version;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
struct ObjectChange {
  // listing, position: kube::WatchCallbacks::on_listing, on_position.
  enum class Type { updated, deleted, listing, position, all_listed };
  ObjectKind kind = ObjectKind::cronjob;
  Type type = Type::updated;
  kube::ObjectKey key{};  // Type::updated, Type::deleted
  std::string uid{};      // Type::updated, Type::deleted
  // ---- Type::updated ----
  kube::Json object{};        // a CronJob, or a Job that has not finished
  kube::ObjectRef cronjob{};  // of a Job; no name without one
  std::optional<FinishedPod> pod{};
  // ---- Type::listing, Type::position ----
  // `watched` is the namespace of the collection, "" for all.
  std::string watched{}, version{};
};

// Nothing for a pod whose gated container runs or can be restarted, and for a pod without one.
std::optional<ObjectChange> read_change(ObjectKind kind, kube::Json object);

}  // namespace cronlatch::op
