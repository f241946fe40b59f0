// SPDX-License-Identifier: Apache-2.0
// The image whose ENTRYPOINT the Jobs of a CronJob need, for a lookup before a Job is created.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
struct NeededImage {
  std::string image;
  kube::Json placement;  // the fields of the pod spec about nodes and pull secrets
  bool operator==(const NeededImage&) const = default;
};

// std::nullopt for a CronJob that is not gated, has a command, or would be denied for another
// reason.
std::optional<NeededImage> image_needed(const kube::Json& cronjob, const Settings& settings);

}  // namespace cronlatch::op
