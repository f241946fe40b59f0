// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/object_change.h"

#include <utility>

#include "operator/reconcile/decide.h"

namespace cronlatch::op {

std::optional<ObjectChange> read_change(ObjectKind kind, kube::Json object) {
  ObjectChange change{.kind = kind,
                      .key = kube::key_of(object),
                      .uid = kube::string_at(object, {"metadata", "uid"})};
  switch (kind) {
    case ObjectKind::pod:
      if (auto run = read_gated_run(object)) {
        const PodVersion version = version_of(object, run->finished);
        change.pod = FinishedPod{std::move(*run), version};
        return change;
      }
      return std::nullopt;
    case ObjectKind::job:
      change.cronjob = kube::owner_of(object, "CronJob");
      if (!has_finished(object)) change.object = std::move(object);
      return change;
    case ObjectKind::cronjob:
      change.object = std::move(object);
      return change;
  }
  return std::nullopt;
}

}  // namespace cronlatch::op
