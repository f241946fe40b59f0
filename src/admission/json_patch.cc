// SPDX-License-Identifier: Apache-2.0
// nlohmann's JSON pointers throw for a path that does not exist, so this file has its own search.
#include "admission/json_patch.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cronlatch::op {
namespace {

using kube::Json;

std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size())
      out += token[++i] == '1' ? '/' : '~';
    else
      out += token[i];
  }
  return out;
}

std::optional<std::size_t> index_of(std::string_view token) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

// The child of `at` with the key or index `token`.
Json* child(Json& at, std::string_view token) {
  if (at.is_object()) {
    const auto entry = at.find(unescaped(token));
    return entry == at.end() ? nullptr : &*entry;
  }
  if (!at.is_array()) return nullptr;
  const std::optional<std::size_t> index = index_of(token);
  return index && *index < at.size() ? &at[*index] : nullptr;
}

// "/a/b/c" -> "/a/b" and "c".
struct Split {
  std::string parent;
  std::string_view last;
};
Split split(std::string_view pointer) {
  const std::size_t at = pointer.rfind('/');
  return {std::string(pointer.substr(0, at)), pointer.substr(at + 1)};
}

}  // namespace

std::string json_pointer(std::initializer_list<std::string_view> path) {
  std::string pointer;
  for (const std::string_view key : path) pointer = below(pointer, key);
  return pointer;
}

std::string below(const std::string& pointer, std::string_view key) {
  return pointer + "/" + escaped(key);
}

std::string below(const std::string& pointer, std::size_t index) {
  return pointer + "/" + std::to_string(index);
}

Json* PatchBuilder::find(const std::string& pointer) const {
  Json* at = &object_;
  std::string_view rest = pointer;
  while (at != nullptr && !rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    at = child(*at, rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return at;
}

const Json* PatchBuilder::at(const std::string& pointer) const { return find(pointer); }

void PatchBuilder::record(const char* op, const std::string& pointer, const Json* value) {
  Json::object_t operation;  // key by key: nlohmann's initializer lists copy their values
  operation.emplace("op", op);
  operation.emplace("path", pointer);
  if (value != nullptr) operation.emplace("value", *value);
  operations_.push_back(std::move(operation));
}

void PatchBuilder::create_parents(const std::string& pointer) {
  const std::string parent = split(pointer).parent;
  if (parent.empty()) return;
  const Json* const there = find(parent);
  if (there == nullptr || there->is_null()) set(parent, Json::object());
}

void PatchBuilder::set(const std::string& pointer, Json value) {
  create_parents(pointer);
  if (Json* const there = find(pointer)) {
    if (*there == value) return;
    record("replace", pointer, &value);
    *there = std::move(value);
    return;
  }
  const Split where = split(pointer);
  Json* const parent = find(where.parent);
  if (parent == nullptr || !parent->is_object()) return;
  record("add", pointer, &value);
  (*parent)[unescaped(where.last)] = std::move(value);
}

void PatchBuilder::remove(const std::string& pointer) {
  if (find(pointer) == nullptr) return;
  const Split where = split(pointer);
  Json* const parent = find(where.parent);
  record("remove", pointer, nullptr);
  if (parent->is_object())
    parent->erase(unescaped(where.last));
  else
    parent->erase(*index_of(where.last));
}

void PatchBuilder::insert(const std::string& array, Json value, bool front) {
  Json* there = find(array);
  if (there == nullptr || there->is_null()) {
    set(array, Json::array({std::move(value)}));
    return;
  }
  if (!there->is_array()) return;
  record("add", array + (front ? "/0" : "/-"), &value);
  there->insert(front ? there->begin() : there->end(), std::move(value));
}

void PatchBuilder::prepend(const std::string& array, Json value) {
  insert(array, std::move(value), true);
}
void PatchBuilder::append(const std::string& array, Json value) {
  insert(array, std::move(value), false);
}

}  // namespace cronlatch::op
