// SPDX-License-Identifier: Apache-2.0
// JSON as it comes from the API server and from admission requests: one parser for all of it,
// because two parsers that read a duplicate key differently are a way around a policy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch::kube {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes = std::size_t{7} * 1024 *
                      1024;  // what controller-runtime reads: two objects of 3 MB and the rest
  int depth = 128;  // nlohmann parses more, and overflows the stack when it copies or prints it
};

// The error says what is wrong and at which byte. A key that appears twice in one object is an
// error. Never throws; no value that it returns is deeper than `limits.depth`.
Result<Json> parse_json(std::string_view text, JsonLimits limits = {});

// The value at a path of keys, or nullptr when one is missing or its parent is no object. Never
// throws.
const Json* find(const Json& root, std::initializer_list<std::string_view> path);
Json* find(Json& root, std::initializer_list<std::string_view> path);
// The string at `path`, "" when it is missing or is no string.
std::string string_at(const Json& root, std::initializer_list<std::string_view> path);
// An array's items; none when it is missing or is no array.
const std::vector<Json>& items_at(const Json& root, std::initializer_list<std::string_view> path);
// The strings of an array; other items are left out.
std::vector<std::string> strings_at(const Json& root, std::initializer_list<std::string_view> path);
// An integer; nothing when it is missing or is none.
std::optional<std::int64_t> number_at(const Json& root,
                                      std::initializer_list<std::string_view> path);
// Whether it is there and true.
bool is_true(const Json& root, std::initializer_list<std::string_view> path);
// Valid UTF-8 whatever is inside: what a tenant wrote is never a reason to throw.
std::string to_text(const Json& value);

}  // namespace cronlatch::kube
