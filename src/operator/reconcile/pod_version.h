// SPDX-License-Identifier: Apache-2.0
// PodVersion: the state of a finished pod, for the comparison with the pods that are reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace cronlatch::op {

struct PodVersion {
  std::string uid, namespace_name;
  std::uint64_t version = 0;  // of its last change
  WallTime written{};   // the last write of its container statuses, on the clock of the API server;
                        // zero: unknown
  WallTime finished{};  // on the clock of its node
  bool has_finalizers = false;  // it changes again when they are removed
};

// A resourceVersion as a number. Kubernetes increases it with every write of the cluster's etcd.
// Zero for any other text.
std::uint64_t version_number(std::string_view resource_version);

PodVersion version_of(const kube::Json& pod, WallTime finished);

}  // namespace cronlatch::op
