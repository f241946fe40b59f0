// SPDX-License-Identifier: Apache-2.0
// Single fields of what kubectl prints. What is not there, or is of another type, is empty, zero or
// false: an API object says nothing by leaving a field out, and tenants write what they like. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"
#include "kube/json.h"

namespace cronlatch::plugin {

using Path = std::initializer_list<std::string_view>;

const std::vector<kube::Json>& array_at(const kube::Json& object, Path path);
std::vector<std::string> strings_at(const kube::Json& object, Path path);
std::int64_t number_at(const kube::Json& object, Path path);
bool is_true(const kube::Json& object, Path path);
std::optional<WallTime> time_at(const kube::Json& object, Path path);

// A text of somebody's that goes to a terminal: printable, and cut where it is long.
std::string shown(const kube::Json& object, Path path);

// The name of the object of this kind that controls it, by its ownerReferences.
std::string owner(const kube::Json& object, std::string_view kind);

// RFC 3339 with any offset; nothing for anything else.
std::optional<WallTime> parse_time(std::string_view text);

}  // namespace cronlatch::plugin
