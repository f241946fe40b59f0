// SPDX-License-Identifier: Apache-2.0
// Deadlines and outages: a server that is paused, killed, or closes the connection.
#include <filesystem>
#include <thread>

#include "contract/redis_support.h"

namespace cronlatch::testing {
namespace {

TEST(RedisTime, DoesNotGrantAfterTheDeadline) {
  // given: an open connection to a server that has the script, and is paused
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto warm = run(run.program.acquire());
  ASSERT_NE(granted_in(warm), nullptr) << reply_text(warm);
  const std::uint64_t fence = granted_in(warm)->fence;
  ASSERT_EQ(run(run.program.release(fence)), Reply(Released{}));
  run.program.claim().attempt = 2;
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  server->pause();
  // when: the request is sent, and reaches the server after its deadline
  const auto reply = run(run.hasty_acquire());
  EXPECT_FALSE(unavailable_of(reply).unsent);
  server->resume();
  wait_until([&] { return calls(*server)["evalsha"] == 1; });
  // then
  const auto view = run.program.backend().show("shop/report", boot_now() + kPatience);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->state, LockState::free);
  EXPECT_EQ(view->fence, fence);
}

TEST(RedisTime, IsUnsentWhenTheServerDidNotAnswerTheLogin) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  server->pause();
  const auto reply = run(run.hasty_acquire());
  expect_unavailable(reply, {Code::unreachable, true, "did not answer in time"});
  EXPECT_TRUE(unavailable_of(reply).unsent);
  server->resume();
  const auto again = run(run.program.acquire());
  EXPECT_NE(granted_in(again), nullptr) << reply_text(again);
}

TEST(RedisTime, CountsALeaseFromBeforeTheRequest) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const TimePoint before = boot_now();
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  const auto renewed = run(run.program.renew(granted_in(reply)->fence));
  ASSERT_TRUE(std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
  EXPECT_GE(granted_in(reply)->sent_at, before);
  EXPECT_GT(std::get<Renewed>(*renewed).sent_at, granted_in(reply)->sent_at);
  EXPECT_LE(std::get<Renewed>(*renewed).sent_at, boot_now());
}

TEST(RedisOutage, IsReportedWhenTheServerIsKilledAndEndsWhenItIsBack) {
  const auto server = RedisServer::start({"--appendonly", "yes", "--appendfsync", "always"});
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  server->kill_now();
  const auto lost = run(run.program.renew(granted_in(reply)->fence));
  EXPECT_TRUE(unavailable_of(lost).transient) << reply_text(lost);
  server->restart();
  std::optional<Reply> renewed;
  wait_until([&] {  // it answers LOADING first
    renewed = run(run.program.renew(granted_in(reply)->fence));
    return unavailable_in(renewed) == nullptr;
  });
  EXPECT_TRUE(std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
}

TEST(RedisOutage, OfAnIdleConnectionIsDetectedBeforeTheNextRequest) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << reply_text(reply);
  redis_command(server->port(), {"CLIENT", "KILL", "TYPE", "normal"});
  const auto renewed = run(run.program.renew(granted_in(reply)->fence));
  EXPECT_TRUE(std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
}

}  // namespace
}  // namespace cronlatch::testing
