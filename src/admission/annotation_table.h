// SPDX-License-Identifier: Apache-2.0
// The annotations that are not options; the others are rows of options/option_table.cc. The table
// in docs/kubernetes.md contains both.
#pragma once

#include <string_view>

#include "base/time.h"

namespace cronlatch::op {

// Of alert-after; CronJobs run once a minute at most.
inline constexpr Millis kLeastAlertAfter{60'000};

struct ExtraKey {
  std::string_view key;
  std::string_view example;  // a value that is accepted, for messages
  std::string_view allowed;  // "namespace, cluster": in docs/kubernetes.md
  std::string_view fallback;
  std::string_view meaning;  // sentences
};

// clang-format off
inline constexpr ExtraKey kExtraKeys[] = {
    {"lock-scope", "namespace", "namespace, cluster", "`namespace`",
     "`cluster`: a lock that all namespaces share, by name. Permitted only for namespaces in the chart value `clusterLockNamespaces`."},
    {"once-per-schedule", "true", "true, false", "`false`",
     "Each scheduled time succeeds at most once, across retries, duplicate starts and clusters. Manual runs are not included."},
    {"container", "main", "a container's name", "`kubectl.kubernetes.io/default-container`, else the only container",
     "The gated container."},
    {"command", R"(["python3", "main.py"])", "a JSON array of strings", "none",
     "The image's ENTRYPOINT, for a container without `command`. Takes precedence over the registry ([below](#images-without-a-command))."},
    {"store-secret", "cronlatch-store", "a Secret's name", "`cronlatch-store` (chart value `store.secretName`)",
     "Another Secret of the same namespace with the credentials for the store."},
    {"alert-after", "26h", "1m or more, off", "from the schedule",
     "Longest time without a real success, for the alert CronlatchJobOverdue. Without it: two missed scheduled times and the usual duration of a run ([operations.md](operations.md#alerts)). `off`: no alert."},
};
// clang-format on

}  // namespace cronlatch::op
