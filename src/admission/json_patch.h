// SPDX-License-Identifier: Apache-2.0
// Builds a JSON patch (RFC 6902) while it edits an object in place (a copy of a Job costs more than
// the rest of a review). An edit that changes nothing adds no operation: the patch of an object
// that needs no change is empty.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kube/json.h"

namespace cronlatch::op {

// "/spec/template/metadata/labels/cronlatch.dev~1gated"
std::string json_pointer(std::initializer_list<std::string_view> path);
// A pointer to the key or the index in the value of `pointer`.
std::string below(const std::string& pointer, std::string_view key);
std::string below(const std::string& pointer, std::size_t index);

class PatchBuilder {
 public:
  // The object outlives the builder, and only the builder changes it.
  explicit PatchBuilder(kube::Json& object) : object_(object) {}

  // The object as it is after the edits so far.
  const kube::Json& object() const { return object_; }
  // The patch; an empty array when nothing has changed.
  const kube::Json& operations() const { return operations_; }
  kube::Json take_operations() { return std::move(operations_); }

  // nullptr where there is no value: also if a value on the way is neither object nor array.
  const kube::Json* at(const std::string& pointer) const;

  // Sets the value; creates objects on the way that are missing or null.
  void set(const std::string& pointer, kube::Json value);
  // Removes the value, if there is one.
  void remove(const std::string& pointer);
  // Inserts at the start or the end of an array; creates the array if it is missing or null.
  void prepend(const std::string& array, kube::Json value);
  void append(const std::string& array, kube::Json value);

 private:
  kube::Json* find(const std::string& pointer) const;
  void create_parents(const std::string& pointer);
  void insert(const std::string& array, kube::Json value, bool front);
  void record(const char* op, const std::string& pointer, const kube::Json* value);

  kube::Json& object_;
  kube::Json operations_ = kube::Json::array();
};

}  // namespace cronlatch::op
