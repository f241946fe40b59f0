// SPDX-License-Identifier: Apache-2.0
// A JSON patch (RFC 6902) that grows while an object is edited: every edit changes the object where
// it stands (a copy of a Job costs more than the rest of a review) and notes itself, and one that
// changes nothing notes nothing. So a patch is minimal, and no patch at all comes out of an object
// that is right already.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kube/json.h"

namespace cronlatch::op {

// "/spec/template/metadata/labels/cronlatch.dev~1gated"
std::string json_pointer(std::initializer_list<std::string_view> path);
// The same behind a pointer.
std::string below(const std::string& pointer, std::string_view key);
std::string below(const std::string& pointer, std::size_t index);

class Edit {
 public:
  // The object outlives the edit, and nobody else changes it meanwhile.
  explicit Edit(kube::Json& object) : object_(object) {}

  // The object as it is after the edits so far.
  const kube::Json& object() const { return object_; }
  // The patch; an empty array when nothing has changed.
  const kube::Json& operations() const { return operations_; }
  kube::Json take_operations() { return std::move(operations_); }

  // nullptr where there is nothing, or where the pointer leads through something that is no
  // container.
  const kube::Json* at(const std::string& pointer) const;

  // Writes the value there; objects on the way that are missing (or null) are made.
  void set(const std::string& pointer, kube::Json value);
  // Takes the value away, if there is one.
  void remove(const std::string& pointer);
  // At the front or the end of an array, which is made if it is missing (or null).
  void prepend(const std::string& array, kube::Json value);
  void append(const std::string& array, kube::Json value);

 private:
  kube::Json* find(const std::string& pointer) const;
  void make_parents(const std::string& pointer);
  void insert(const std::string& array, kube::Json value, bool front);
  void note(const char* op, const std::string& pointer, const kube::Json* value);

  kube::Json& object_;
  kube::Json operations_ = kube::Json::array();
};

}  // namespace cronlatch::op
