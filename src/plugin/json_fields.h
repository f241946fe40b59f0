// SPDX-License-Identifier: Apache-2.0
// Fields of what kubectl prints that are more than JSON: times, owners, and texts that go to a
// terminal. What is not there, or is of another type, is empty: tenants write what they like. Pure.
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

// A text of somebody's that goes to a terminal: printable, and cut where it is long.
std::string shown(const kube::Json& object, Path path);

// The name of the object of this kind that controls it, by its ownerReferences.
std::string owner(const kube::Json& object, std::string_view kind);

}  // namespace cronlatch::plugin
