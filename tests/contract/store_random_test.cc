// SPDX-License-Identifier: Apache-2.0
// The contract of every store: what the program passes on, and random steps.
#include <random>
#include <vector>

#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

// ---- what the program passes on ----

TEST_P(StoreContract, ReportsWhetherHostsShareIt) {
  EXPECT_EQ(world_->open()->shared(), world_->shared());
}

TEST_P(StoreContract, HasAnInheritedDescriptorOnlyWithAKernelLock) {
  auto one = program("1");
  EXPECT_EQ(one.backend().inherited_fd(), -1);
  const Fence fence = granted(one(one.acquire())).fence;
  EXPECT_EQ(one.backend().inherited_fd() >= 0, !world_->leased());
  one(one.release(fence));
  EXPECT_EQ(one.backend().inherited_fd(), -1);
}

// ---- random steps ----

// Fifty random steps of four programs, and three invariants after each: one holder,
// rising fences, the law.
TEST_P(StoreContract, KeepsItsInvariantsOverRandomSteps) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<Caller> programs;
  for (int i = 0; i < 4; ++i)
    programs.push_back(program("owner-" + std::to_string(i), "shop/job-" + std::to_string(i % 2)));
  constexpr std::size_t kNoHolder = 99;
  std::size_t holder = kNoHolder;
  Fence last = 0;

  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    const std::size_t identity = random() % programs.size();
    Caller& one = programs[identity];
    switch (random() % 4) {
      case 0:
      case 1: {
        Acquire request = one.acquire();
        request.if_busy = static_cast<IfBusy>(random() % 4);
        const std::optional<Reply> reply = one(request);
        ASSERT_TRUE(reply);
        if (const auto* got = std::get_if<Granted>(&*reply)) {
          EXPECT_TRUE(holder == identity ? got->fence == last : got->fence > last);
          EXPECT_TRUE(holder == identity || holder == kNoHolder) << "two holders";
          holder = identity;
          last = got->fence;
        } else if (const auto* busy = std::get_if<Busy>(&*reply)) {
          EXPECT_NE(holder, identity);
          // A program that waits can be granted a free lock before the others.
          EXPECT_EQ(holder == kNoHolder, busy->reason == BusyReason::queued);
          EXPECT_TRUE(busy->fence == 0 || busy->fence == last);
          ++one.claim().attempt;
        } else {
          EXPECT_TRUE(closed(reply));
          ++one.claim().attempt;
        }
        break;
      }
      case 2: {
        const std::optional<Reply> reply = one(one.renew(last));
        ASSERT_TRUE(reply);
        EXPECT_EQ(std::holds_alternative<Renewed>(*reply), holder == identity);
        break;
      }
      case 3: {
        const std::optional<Reply> reply =
            one(one.release(last, static_cast<RunVerdict>(random() % 6)));
        ASSERT_TRUE(reply);
        if (holder == identity) {
          EXPECT_TRUE(is_released(reply));
          holder = kNoHolder;
          ++one.claim().attempt;
        }
        break;
      }
    }
    expect_law(one, holder != kNoHolder);
    EXPECT_EQ(one.show().open(), holder != kNoHolder);
  }
}

}  // namespace
}  // namespace cronlatch::testing
