// SPDX-License-Identifier: Apache-2.0
// The names that cronlatch uses in Kubernetes: annotations, labels, containers, volumes, paths. The
// operator writes them and the plugin reads them. The chart's policies have copies of those that
// they test in CEL.
#pragma once

#include <string_view>

namespace cronlatch {

// ---- annotations ----
inline constexpr std::string_view kPrefix = "cronlatch.dev/";
inline constexpr std::string_view kLockAnnotation = "cronlatch.dev/lock";
// On the pod template: the version, for information only.
inline constexpr std::string_view kInjectedAnnotation = "cronlatch.dev/injected";
// On the pod template: the source of the command of a container without `command`.
inline constexpr std::string_view kCommandFromAnnotation = "cronlatch.dev/command-from";
// On the Job template: the keys that were copied there ("lock,ttl", without prefix). Only these are
// changed and removed when their source changes.
inline constexpr std::string_view kCopiedKeysAnnotation = "cronlatch.dev/mirrored";
// On a Job: the container that the chart's policy of admission.mode `policy` gated, in place of the
// operator. The policy removes the annotation from every other Job.
inline constexpr std::string_view kGatedByPolicyAnnotation = "cronlatch.dev/gated-by-policy";
// On a copied Secret: namespace and name of its source.
inline constexpr std::string_view kCopiedFromAnnotation = "cronlatch.dev/copied-from";
// On the leader's Lease: the checkpoint of the pods that were reported.
inline constexpr std::string_view kReportedPodsAnnotation = "cronlatch.dev/counted-pods";
// Written by the CronJob controller; a Job created by hand has none.
inline constexpr std::string_view kScheduledAnnotation =
    "batch.kubernetes.io/cronjob-scheduled-timestamp";

// ---- labels ----
// On the pod template: selects the pods that the operator watches.
inline constexpr std::string_view kGatedLabel = "cronlatch.dev/gated";

// ---- in managedFields ----
// The API server records it as the owner of the fields that the operator writes. A change would
// leave the fields of the previous name owned by a manager that never writes again.
inline constexpr std::string_view kFieldManager = "cronlatch";

// ---- in the pod ----
inline constexpr std::string_view kBinVolume = "cronlatch-bin";
inline constexpr std::string_view kBinDirectory = "/cronlatch-bin";
inline constexpr std::string_view kGateBinary = "/cronlatch-bin/cronlatch";
inline constexpr std::string_view kInstallContainer = "cronlatch-install";
inline constexpr std::string_view kStoreVolume = "cronlatch-store";
inline constexpr std::string_view kStoreDirectory = "/var/run/secrets/cronlatch";

}  // namespace cronlatch
