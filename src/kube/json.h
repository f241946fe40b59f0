// SPDX-License-Identifier: Apache-2.0
// The one parser for JSON of the API server and of admission requests. Two parsers that read a
// duplicate key differently would permit to bypass a policy.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch::kube {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes =
      std::size_t{7} * 1024 * 1024;  // controller-runtime's limit: two objects of 3 MB and overhead
  int depth = 128;  // beyond, nlohmann overflows the stack when it copies or prints a value
};

// An object in the array `items` of a list; `list` contains what is before the items. It must not
// throw.
using OnItem = std::function<void(const Json& list, Json item)>;

// The error contains the problem and its byte position. A key that appears twice in one object is
// an error. Never throws; no value that it returns is deeper than `limits.depth`. With `on_item`,
// each item is passed as soon as it is read, and is not in the value: a list is many times as large
// as its text.
Result<Json> parse_json(std::string_view text, JsonLimits limits = {}, const OnItem& on_item = {});

// The value at a path of keys, or nullptr when a key is missing or its parent is not an object.
// Never throws.
const Json* find(const Json& root, std::initializer_list<std::string_view> path);
Json* find(Json& root, std::initializer_list<std::string_view> path);
// The string at `path`, "" when it is missing or not a string.
std::string string_at(const Json& root, std::initializer_list<std::string_view> path);
// The items of an array; empty when it is missing or not an array.
const std::vector<Json>& items_at(const Json& root, std::initializer_list<std::string_view> path);
// The strings of an array; other items are left out.
std::vector<std::string> strings_at(const Json& root, std::initializer_list<std::string_view> path);
// An integer; nothing when it is missing or not an integer.
std::optional<std::int64_t> number_at(const Json& root,
                                      std::initializer_list<std::string_view> path);
// True for the value `true` only.
bool is_true(const Json& root, std::initializer_list<std::string_view> path);
// Invalid UTF-8 of a tenant is replaced; never throws.
std::string to_text(const Json& value);

}  // namespace cronlatch::kube
