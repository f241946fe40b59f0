// SPDX-License-Identifier: Apache-2.0
// KnownObjects: the names and UIDs of the objects of a collection, to find those that were deleted
// between two watches. Memory: one node of a map and the name for each object.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/object_ref.h"

namespace cronlatch::kube {

class KnownObjects {
 public:
  using OnDeleted = std::function<void(const ObjectKey& key, const std::string& uid)>;

  void begin_list() { ++list_; }
  // The object exists. The result is the UID of another object that had this name before.
  std::optional<std::string> add(const ObjectKey& key, std::string_view uid);
  // The UID of the object that had this name; nothing if none had it.
  std::optional<std::string> remove(const ObjectKey& key);
  // Removes and reports, in the order of their names, the objects that were not added since
  // begin_list().
  void end_list(const OnDeleted& on_deleted);

 private:
  // A UUID (RFC 9562), as every API server creates them, in 16 bytes; a UID of another form as
  // text.
  class Uid {
   public:
    explicit Uid(std::string_view text);
    std::string text() const;

   private:
    std::array<std::uint8_t, 16> bytes_{};
    std::unique_ptr<const std::string> other_;
  };
  struct Known {
    Uid uid;
    unsigned list = 0;  // the number of the list that contained it last
  };
  using Names = std::map<std::string, Known, std::less<>>;

  std::map<std::string, Names, std::less<>> namespaces_;
  unsigned list_ = 0;
};

}  // namespace cronlatch::kube
