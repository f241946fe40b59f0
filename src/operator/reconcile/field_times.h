// SPDX-License-Identifier: Apache-2.0
// The times in metadata.managedFields at which annotations, spec.suspend and the status of a pod
// were written. An entry has one time for all its fields, that of the last change: a field may be
// older than its entry and is never newer. Pure.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace cronlatch::op {

// The earliest time of an entry that owns the annotation `name` below `path`
// ({"spec", "jobTemplate", "metadata"}). Nothing without such an entry.
std::optional<WallTime> annotated_since(const kube::Json& object,
                                        std::initializer_list<std::string_view> path,
                                        const std::string& name);

// When the annotation `name` of a CronJob or of its Job template was added, or another annotation
// of cronlatch.dev by the same client. Nothing unless every client that owns it owns such
// annotations only.
std::optional<WallTime> annotation_added(const kube::Json& cronjob, const std::string& name);

// Whether metadata.annotations[name] was written after the creation. False if the creating request
// wrote it, or if no entry owns it (another webhook added it).
bool annotated_after_creation(const kube::Json& object, const std::string& name);

// The latest change of spec.suspend by a client that wrote nothing else in the spec (`kubectl
// patch`, `kubectl edit`). Nothing if no entry shows it: a client that applies the whole object has
// one time for all its fields.
std::optional<WallTime> suspension_changed(const kube::Json& cronjob);

// The latest write of status.containerStatuses of a pod; nothing if no entry shows it.
std::optional<WallTime> containers_written(const kube::Json& pod);

}  // namespace cronlatch::op
