// SPDX-License-Identifier: Apache-2.0
// The image whose ENTRYPOINT a CronJob's Jobs will need: what can be asked before one is due. Pure.
#pragma once

#include <optional>
#include <string>

#include "admission/settings.h"
#include "kube/json.h"

namespace cronlatch::op {

struct NeededImage {
  std::string image;
  kube::Json placement;  // of the pod's spec what says where it runs, and with which logins
  bool operator==(const NeededImage&) const = default;
};

// Nothing for one that is not gated, names its command, or would be refused for another reason.
std::optional<NeededImage> image_needed(const kube::Json& cronjob, const Settings& settings);

}  // namespace cronlatch::op
