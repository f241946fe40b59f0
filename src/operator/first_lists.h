// SPDX-License-Identifier: Apache-2.0
// FirstLists: when all objects of a kind are known, if several watchers list them, one for each
// namespace. Thread rule: expect() before the watchers start; the others from any thread.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/time.h"
#include "operator/reconcile/object_change.h"

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

// FirstList: that of one collection. A namespace that was deleted is no longer readable, because
// its Role was deleted, too: it must not delay the others without end. Thread rule: one thread.
class FirstList {
 public:
  // An API server that starts denies rights for a few seconds.
  static constexpr Millis kGiveUpAfter{60'000};

  // `lists` and `clock` must outlive the object.
  FirstList(FirstLists& lists, ObjectKind kind, const Clock& clock,
            Millis give_up_after = kGiveUpAfter)
      : lists_(lists), kind_(kind), clock_(clock), give_up_after_(give_up_after) {}

  // The collection was listed, or is given up. True when each of its kind was.
  bool listed() { return lists_.listed(kind_, std::exchange(is_first_, false)); }
  // A list failed. True if it is to be given up: it was never listed, and each attempt of the last
  // `give_up_after` was forbidden.
  bool failed(bool is_forbidden) {
    if (!is_forbidden) denied_.reset();
    if (!is_forbidden || !is_first_) return false;
    if (!denied_) denied_ = clock_.now();
    return clock_.now() - *denied_ >= give_up_after_;
  }

 private:
  FirstLists& lists_;
  const ObjectKind kind_;
  const Clock& clock_;
  const Millis give_up_after_;
  bool is_first_ = true;
  std::optional<TimePoint> denied_;  // the first of the denials without another result between them
};

}  // namespace cronlatch::op
