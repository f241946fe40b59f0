// SPDX-License-Identifier: Apache-2.0
// The contract of every store (core/store.h, core/lock_stats.h). Each test of the suite runs on the
// memory store, the file store, Redis with and without TLS, Redis Sentinel, Redis Cluster, a
// quorum and PostgreSQL (store_worlds.cc). A test that needs a lease is skipped on the file store;
// file_store_test.cc tests what only the file store has.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "contract/contract.h"
#include "support/redis_server.h"

namespace cronlatch::testing {

class StoreContract : public ::testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override {
    if (GetParam().needs_tls_server) NEEDS_TLS_SERVER();
  }
  Caller program(const std::string& owner, const std::string& job = "shop/report") {
    return Caller(*world_, "shop/report", owner, job);
  }
  void expect_law(Caller& program, bool open) {
    EXPECT_EQ(breach_of_law(program.show(), open), "");
  }

  std::unique_ptr<World> world_ = GetParam().make();
};

#define ONLY_LEASED() \
  if (!world_->leased()) GTEST_SKIP() << "needs a store with leases"

#define ONLY_WITH_SLOTS() \
  if (!world_->has_slots()) GTEST_SKIP() << "needs a store with several slots"

inline Granted granted(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Granted>(*reply)) return std::get<Granted>(*reply);
  ADD_FAILURE() << "not granted, reply " << (reply ? static_cast<int>(reply->index()) : -1);
  return {};
}
inline Busy busy(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Busy>(*reply)) return std::get<Busy>(*reply);
  ADD_FAILURE() << "not busy, reply " << (reply ? static_cast<int>(reply->index()) : -1);
  return {};
}
// Of any run that it reserved the lock for.
inline bool is_released(const std::optional<Reply>& reply) {
  return reply && std::holds_alternative<Released>(*reply);
}
inline bool is_not_holder(const std::optional<Reply>& reply, LostReason reason) {
  const NotHolder* lost = reply ? std::get_if<NotHolder>(&*reply) : nullptr;
  return lost != nullptr && lost->reason == reason;
}
inline bool closed(const std::optional<Reply>& reply) { return reply == Reply(TooLate{true}); }
// Refused after its deadline: TooLate, not executed, or no reply.
inline bool refused_as_late(const std::optional<Reply>& reply) {
  if (!reply || *reply == Reply(TooLate{false})) return true;
  const auto* error = std::get_if<Unavailable>(&*reply);
  return error != nullptr && error->unsent;
}
// The view without the time at which it was read.
inline LockView without_time(LockView view) {
  view.now = {};
  return view;
}
inline void expect_same(const LockView& before, const LockView& after) {
  const LockView a = without_time(before), b = without_time(after);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.identity, b.identity);
  EXPECT_EQ(a.fence, b.fence);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.acquired, b.acquired);
  EXPECT_EQ(a.expires, b.expires);
  EXPECT_EQ(a.jobs, b.jobs);
}

}  // namespace cronlatch::testing
