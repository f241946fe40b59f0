// SPDX-License-Identifier: Apache-2.0
// FirstLists: when all objects of a kind are known, if several watchers list them, one for each
// namespace. Thread rule: expect() before the watchers start; listed() from any thread.
#pragma once

#include <array>
#include <atomic>

#include "operator/reconcile/change_queue.h"

namespace cronlatch::op {

class FirstLists {
 public:
  // `collections` of this kind will be listed.
  void expect(ObjectKind kind, std::size_t collections) { pending(kind) = collections; }
  // A collection was listed, for the first time or again. True when each of this kind was.
  bool listed(ObjectKind kind, bool is_first) {
    if (is_first) --pending(kind);
    return pending(kind) == 0;
  }

 private:
  std::atomic<std::size_t>& pending(ObjectKind kind) {
    return pending_[static_cast<std::size_t>(kind)];
  }
  std::array<std::atomic<std::size_t>, 3> pending_{};
};

}  // namespace cronlatch::op
