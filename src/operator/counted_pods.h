// SPDX-License-Identifier: Apache-2.0
// CountedPods: which finished pods have been told and counted, as the note that the leader keeps in
// its Lease. Pure. It names the newest ones and a moment before which everything counts as counted,
// so it stays small; a pod that is reported later than 200 others that finished after it is missed.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/time.h"

namespace cronlatch::op {

class CountedPods {
 public:
  static constexpr std::size_t kMost = 200;

  CountedPods() = default;
  // From a note; one that cannot be read is an empty one.
  explicit CountedPods(std::string_view note);

  bool has(const std::string& uid, WallTime finished) const;
  void add(const std::string& uid, WallTime finished);
  // The pod is deleted: nobody can report it again.
  void forget(const std::string& uid);
  std::string note() const;

 private:
  std::int64_t before_ = 0;                   // seconds since 1970
  std::map<std::string, std::int64_t> pods_;  // shortened UID to the second it finished
};

}  // namespace cronlatch::op
