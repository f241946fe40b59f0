// SPDX-License-Identifier: Apache-2.0
// Every name that cronlatch gives to something in Kubernetes: annotations, labels, containers,
// volumes, paths. The operator writes them, the plugin reads them; the chart's policies repeat the
// ones that they test in CEL.
#pragma once

#include <string_view>

namespace cronlatch {

// ---- annotations ----
inline constexpr std::string_view kPrefix = "cronlatch.dev/";
inline constexpr std::string_view kLockAnnotation = "cronlatch.dev/lock";
// On the pod template: version and lock, for the reader; decides nothing.
inline constexpr std::string_view kInjectedAnnotation = "cronlatch.dev/injected";
// Beside it: the source of the command of a container without `command`.
inline constexpr std::string_view kCommandFromAnnotation = "cronlatch.dev/command-from";
// On the Job template: the keys that were copied there ("lock,ttl", without prefix). They may be
// overwritten and removed when their source changes; others may not.
inline constexpr std::string_view kMirroredAnnotation = "cronlatch.dev/mirrored";
// On a copied Secret: namespace and name of its source.
inline constexpr std::string_view kCopiedFromAnnotation = "cronlatch.dev/copied-from";
// On the leader's Lease: the checkpoint of the pods that were reported.
inline constexpr std::string_view kReportedPodsAnnotation = "cronlatch.dev/counted-pods";
// The CronJob controller writes it; a Job created by hand has none.
inline constexpr std::string_view kScheduledAnnotation =
    "batch.kubernetes.io/cronjob-scheduled-timestamp";

// ---- labels ----
// On the pod template: selects the pods that the operator watches.
inline constexpr std::string_view kGatedLabel = "cronlatch.dev/gated";

// ---- in the pod ----
inline constexpr std::string_view kBinVolume = "cronlatch-bin";
inline constexpr std::string_view kBinDirectory = "/cronlatch-bin";
inline constexpr std::string_view kGateBinary = "/cronlatch-bin/cronlatch";
inline constexpr std::string_view kInstallContainer = "cronlatch-install";
inline constexpr std::string_view kStoreVolume = "cronlatch-store";
inline constexpr std::string_view kStoreDirectory = "/var/run/secrets/cronlatch";

}  // namespace cronlatch
