// SPDX-License-Identifier: Apache-2.0
// What metadata.managedFields says about when annotations were written. An entry has one time for
// all its fields, that of its last change, so a field may be older than its entry and is never
// newer. Pure.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace cronlatch::op {

// The earliest time of an entry that owns the annotation `name` below `path`
// ({"spec", "jobTemplate", "metadata"}). Nothing where none owns it.
std::optional<WallTime> annotated_since(const kube::Json& object,
                                        std::initializer_list<std::string_view> path,
                                        const std::string& name);

// Was metadata.annotations[name] written after the object's creation? It was not where the request
// that created the object wrote it, or where no entry owns it (another webhook added it).
bool annotated_after_creation(const kube::Json& object, const std::string& name);

}  // namespace cronlatch::op
