// SPDX-License-Identifier: Apache-2.0
// Fields of Kubernetes objects as times, owners, and text for a terminal. A field that is missing
// or of another type is empty. Pure.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/json.h"

namespace cronlatch::plugin {

using Path = std::initializer_list<std::string_view>;

std::optional<WallTime> time_at(const kube::Json& object, Path path);

// For a terminal: printable, with at most 300 bytes.
std::string printable_at(const kube::Json& object, Path path);

// The name of its controller, if that is of this kind; from ownerReferences.
std::string owner_name(const kube::Json& object, std::string_view kind);

}  // namespace cronlatch::plugin
