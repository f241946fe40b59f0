// SPDX-License-Identifier: Apache-2.0
// The view of a lock.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class ViewTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(ViewTest);

TEST_P(ViewTest, NamesEveryState) {
  Lock lock = new_lock();
  const auto state = [&] { return rules::view("l", lock.record(), lock.now).state; };
  EXPECT_EQ(state(), LockState::free);
  lock.acquire("a");
  EXPECT_EQ(state(), LockState::held);
  lock.pass(30s);
  EXPECT_EQ(state(), LockState::expired);
  lock.acquire("b");
  lock.revoke();
  EXPECT_EQ(state(), LockState::revoked);
  lock.pass(30s);
  EXPECT_EQ(state(), LockState::free);
  lock.acquire("c");
  auto end = lock.end("c");
  end.min_hold = 60s;
  lock.send(end);
  EXPECT_EQ(state(), LockState::cooling);
}

}  // namespace
}  // namespace cronlatch::testing
