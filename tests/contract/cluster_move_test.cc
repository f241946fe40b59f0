// SPDX-License-Identifier: Apache-2.0
// 200 locks whose hash slots move to another master, and back in a long run, while clients acquire,
// renew and release them: no lock is lost, no two clients hold one, and every decision is counted
// once.
#include <algorithm>
#include <array>
#include <atomic>
#include <random>

#include "contract/redis_support.h"
#include "store/redis/cluster_reply.h"
#include "support/cluster_group.h"
#include "support/eventually.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

constexpr std::size_t kLocks = 200;
constexpr std::size_t kClients = 8;
constexpr std::size_t kShare = kLocks / kClients;  // of each client; the next client has it, too
constexpr std::size_t kBatch = 40;                 // hash slots that move at the same time
constexpr long kRedirected = 20;                   // requests during these moves, at least

std::string name_of(std::size_t lock) { return "move/" + std::to_string(lock); }
int hash_slot_of_lock(std::size_t lock) {
  return redis::hash_slot_of("cronlatch:{" + name_of(lock) + "}");
}

// What the clients saw of one lock.
struct Seen {
  std::atomic<int> holders = 0;
  std::atomic<Fence> fence = 0;
  std::atomic<std::int64_t> granted = 0, renewed = 0, busy = 0;
};
using AllSeen = std::array<Seen, kLocks>;

// Acquires, renews and releases its locks in a random order; half of its locks are those of the
// next client.
class MovingClient {
 public:
  MovingClient(const StoreSpec& spec, AllSeen& seen, std::size_t number)
      : seen_(seen), run_(spec, "client-" + std::to_string(number)), random_(number + 1) {
    for (std::size_t i = 0; i < 2 * kShare; ++i)
      locks_.push_back({(number * kShare + i) % kLocks, 0, 0});
  }
  void work_until(const std::atomic<bool>& is_over) {
    for (std::size_t i = 0; i < kShare; ++i) acquire(locks_[i]);
    while (!is_over && !::testing::Test::HasFailure()) use(locks_[random_() % locks_.size()]);
    for (Lock& lock : locks_)
      if (lock.fence != 0) release(lock);
  }

 private:
  struct Lock {
    std::size_t index;
    std::uint32_t attempt;
    Fence fence;  // 0: not held
  };
  void use(Lock& lock) {
    if (lock.fence == 0)
      acquire(lock);
    else if (random_() % 3 == 0)
      release(lock);
    else
      renew(lock);
  }
  template <class Request>
  std::optional<Reply> send(Request request, const Lock& lock) {
    request.lock = name_of(lock.index);
    request.claim.attempt = lock.attempt;
    return run_(request);
  }

  void acquire(Lock& lock) {
    Seen& seen = seen_[lock.index];
    ++lock.attempt;
    const auto reply = send(run_.program.acquire(), lock);
    if (reply && std::holds_alternative<Busy>(*reply)) {
      ++seen.busy;
      return;
    }
    ASSERT_NE(granted_in(reply), nullptr) << name_of(lock.index) << ": " << reply_text(reply);
    lock.fence = granted_in(reply)->fence;
    EXPECT_EQ(++seen.holders, 1) << name_of(lock.index) << " has two holders";
    EXPECT_GT(lock.fence, seen.fence.exchange(lock.fence)) << name_of(lock.index);
    EXPECT_FALSE(granted_in(reply)->stole);
    ++seen.granted;
  }
  void renew(const Lock& lock) {
    const auto reply = send(run_.program.renew(lock.fence), lock);
    ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply))
        << name_of(lock.index) << ": " << reply_text(reply);
    EXPECT_FALSE(std::get<Renewed>(*reply).restored) << name_of(lock.index);
    ++seen_[lock.index].renewed;
  }
  void release(Lock& lock) {
    --seen_[lock.index].holders;
    const auto reply = send(run_.program.release(lock.fence), lock);
    lock.fence = 0;
    ASSERT_TRUE(reply && std::holds_alternative<Released>(*reply))
        << name_of(lock.index) << ": " << reply_text(reply);
  }

  AllSeen& seen_;
  RedisProgram run_;
  std::minstd_rand random_;
  std::vector<Lock> locks_;
};

struct Move {
  std::size_t lock;
  RedisServer* from;
  RedisServer* to;
};

long redirected(ClusterGroup& group) {
  long sum = 0;
  for (std::size_t i = 0; i < group.size(); ++i)
    sum += ClusterGroup::redirected_scripts(group.node(i));
  return sum;
}

// The moves end after requests were redirected. Returns the number of locks that were held when
// their move began.
std::size_t move_slots(ClusterGroup& group, const std::vector<Move>& batch, const AllSeen& seen) {
  std::size_t held = 0;
  const long before = redirected(group);
  for (const Move& one : batch) {
    held += seen[one.lock].holders != 0 ? 1 : 0;
    group.begin_move(hash_slot_of_lock(one.lock), *one.from, *one.to);
  }
  EXPECT_TRUE(eventually([&] { return redirected(group) >= before + kRedirected; }));
  for (const Move& one : batch) group.end_move(hash_slot_of_lock(one.lock), *one.from, *one.to);
  return held;
}

TEST(ClusterStoreMoves, KeepEachOf200BusyLocks) {
  ClusterGroup& group = ClusterGroup::shared();
  const StoreSpec spec = spec_of(group.url());
  AllSeen seen;
  // In one direction at a time: a node that receives hash slots has a higher epoch than before, and
  // would claim those that it just gave away.
  std::vector<Move> there[2], back[2];
  RedisServer* const masters[] = {&group.owner(0), &group.owner(16'383)};
  for (std::size_t i = 0; i < kLocks; ++i) {
    RedisServer* const from = &group.owner(hash_slot_of_lock(i));
    const std::size_t side = from == masters[0] ? 1 : 0;
    there[side].push_back({i, from, masters[side]});
    back[side].push_back({i, masters[side], from});
  }
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> clients;
  for (std::size_t i = 0; i < kClients; ++i)
    clients.emplace_back([&, i] { MovingClient(spec, seen, i).work_until(is_over); });
  EXPECT_TRUE(eventually([&] {
    return std::all_of(seen.begin(), seen.end(), [](const Seen& one) { return one.granted != 0; });
  }));
  // when
  std::size_t held = 0, moved = 0;
  for (const std::vector<Move>* moves : {&there[0], &there[1], &back[0], &back[1]}) {
    if (moves == &back[0] && !is_long_run()) break;
    moved += moves->size();
    for (std::size_t at = 0; at < moves->size() && !::testing::Test::HasFailure(); at += kBatch) {
      const std::size_t end = std::min(moves->size(), at + kBatch);
      held += move_slots(group, {moves->data() + at, moves->data() + end}, seen);
    }
  }
  is_over = true;
  clients.clear();
  group.wait_until_ok();
  // then
  EXPECT_GE(held, moved / 2) << "the clients hold most of the locks";
  std::int64_t granted = 0, renewed = 0, busy = 0;
  RedisProgram reader(spec);
  for (std::size_t i = 0; i < kLocks; ++i) {
    const LockView view = reader.program.show(name_of(i));
    std::int64_t acquired = 0, skipped = 0;
    for (const auto& [job, counters] : view.jobs) {
      acquired += counters.get("acquired");
      skipped += counters.get("skipped_held");
    }
    EXPECT_EQ(view.state, LockState::free) << name_of(i);
    EXPECT_EQ(acquired, seen[i].granted) << name_of(i);
    EXPECT_EQ(skipped, seen[i].busy) << name_of(i);
    EXPECT_EQ(breach_of_law(view, /*open=*/false), "") << name_of(i);
    granted += seen[i].granted;
    renewed += seen[i].renewed;
    busy += seen[i].busy;
  }
  std::printf("%zu moves, %zu of held locks: %ld grants, %ld renewals, %ld refusals\n", moved, held,
              static_cast<long>(granted), static_cast<long>(renewed), static_cast<long>(busy));
}

}  // namespace
}  // namespace cronlatch::testing
