// SPDX-License-Identifier: Apache-2.0
// Items with a name in the arrays of a pod: volumes, mounts, variables. Pure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "admission/json_patch.h"
#include "kube/json.h"

namespace cronlatch::op {

// Whether `existing` has everything of `wanted`. It may have more: between two calls of the webhook
// the API server sets defaults, and other webhooks add their own fields.
bool contains(const kube::Json& existing, const kube::Json& wanted);

// Whether the volume has one of these sources ("emptyDir", "secret").
bool has_source(const kube::Json& volume, std::initializer_list<std::string_view> sources);

// The position of the first item with this name in the array; nothing without one.
std::optional<std::size_t> index_of(const PatchBuilder& patch, const std::string& array,
                                    const char* name_key, std::string_view name);

// Adds `wanted` to the array; replaces an item with the same name that lacks a part of it.
void put_named(PatchBuilder& patch, const std::string& array, const char* name_key,
               const kube::Json& wanted);

}  // namespace cronlatch::op
