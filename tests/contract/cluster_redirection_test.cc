// SPDX-License-Identifier: Apache-2.0
// Redirections of the nodes of a Redis Cluster, by scripted peers: how many are followed, and that
// the target is checked like every other node before it gets a password.
#include <atomic>
#include <mutex>

#include "contract/redis_support.h"
#include "support/certificates.h"
#include "support/fault_proxy.h"
#include "support/redis_peer.h"
#include "support/tls_end.h"

namespace cronlatch::testing {
namespace {

// A node of a Redis Cluster that answers each EVAL with `answer`.
RedisPeer::Script node_that(std::function<std::string()> answer) {
  return [answer = std::move(answer)](const RedisPeer::Command& command) {
    if (command[0].starts_with("EVAL")) return answer();
    if (command[0] != "HELLO") return RedisPeer::usual(command);
    return std::string("*4\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$4\r\nmode\r\n$7\r\ncluster\r\n");
  };
}

std::string redirection(const char* kind, int port) {
  return std::string("-") + kind + " 1 127.0.0.1:" + std::to_string(port) + "\r\n";
}

class ClusterRedirection : public ::testing::TestWithParam<const char*> {};

// Two nodes that name each other would keep the run and both nodes busy.
TEST_P(ClusterRedirection, IsFollowedFiveTimesBeforeAPause) {
  std::mutex mutex;
  std::vector<TimePoint> sent;
  std::atomic<int> ports[2] = {0, 0};
  const auto redirects_to = [&](int other) {
    return node_that([&, other] {
      const std::lock_guard lock(mutex);
      sent.push_back(boot_now());
      return redirection(GetParam(), ports[other]);
    });
  };
  RedisPeer one(redirects_to(1)), two(redirects_to(0));
  ports[0] = one.port();
  ports[1] = two.port();
  RedisProgram run(spec_of("redis+cluster://127.0.0.1:" + std::to_string(one.port())));
  // when
  const auto reply = run(run.hasty_acquire(Millis(500)));
  // then
  expect_unavailable(reply, {Code::unreachable, true, "and no node accepted it"});
  EXPECT_TRUE(unavailable_of(reply).unsent);
  const std::lock_guard lock(mutex);
  ASSERT_GT(sent.size(), 6u);
  EXPECT_GE(sent[6] - sent[5], Millis(25)) << "the pause after the first request and five more";
  // The pauses are 25, 50, 100, 200 ms; then the time limit has passed.
  EXPECT_LE(sent.size(), 5u * 6u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClusterRedirection, ::testing::Values("MOVED", "ASK"),
                         [](const auto& kind) { return std::string(kind.param); });

struct UnsafeTarget {
  const char* name;
  const CertFiles& (Certificates::*certificate)() const;  // null: no TLS
};

class ClusterRedirectionToAnUnsafeTarget : public ::testing::TestWithParam<UnsafeTarget> {
 protected:
  static Fault no_fault() {
    return {.concerns = [](const Fault::Request&) { return false; }};
  }
  Certificates certificates_;
};

TEST_P(ClusterRedirectionToAnUnsafeTarget, IsRefusedBeforeThePasswordIsSent) {
  const bool has_tls = GetParam().certificate != nullptr;
  // A server without TLS takes the handshake for a command.
  RedisPeer target(node_that([] { return std::string("+OK\r\n"); }), RedisPeer::Pace::at_once,
                   has_tls ? "" : "-ERR Protocol error: unbalanced quotes in request\r\n");
  std::unique_ptr<FaultProxy> end;
  if (has_tls)
    end = std::make_unique<FaultProxy>(
        target.port(), no_fault(), tls_server_context((certificates_.*GetParam().certificate)()));
  const int port = end ? end->port() : target.port();
  RedisPeer node(node_that([&] { return redirection("MOVED", port); }));
  FaultProxy good(node.port(), no_fault(), tls_server_context(certificates_.good()));
  StoreSpec spec = spec_of("rediss+cluster://127.0.0.1:" + std::to_string(good.port()));
  spec.tls_ca = certificates_.ca();
  spec.password = Secret("hunter2-canary");
  RedisProgram run(spec);
  // when
  const auto reply = run(run.hasty_acquire(Seconds(5)));
  // then
  expect_unavailable(reply, {Code::tls, false, "127.0.0.1:" + std::to_string(port)});
  EXPECT_GT(node.commands().size(), 0u);
  EXPECT_EQ(target.commands().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Targets, ClusterRedirectionToAnUnsafeTarget,
                         ::testing::Values(UnsafeTarget{"WrongName", &Certificates::wrong_name},
                                           UnsafeTarget{"Expired", &Certificates::expired},
                                           UnsafeTarget{"SelfSigned", &Certificates::self_signed},
                                           UnsafeTarget{"UnknownCa", &Certificates::unknown_ca},
                                           UnsafeTarget{"NoTls", nullptr}),
                         [](const auto& target) { return std::string(target.param.name); });

// The control: the same redirection to a node with a good certificate is followed.
TEST(ClusterRedirectionToASafeTarget, IsFollowed) {
  const Certificates certificates;
  const auto context = tls_server_context(certificates.good());
  const Fault none{.concerns = [](const Fault::Request&) { return false; }};
  RedisPeer target(node_that([] {
    return std::string(
        "*5\r\n$7\r\ngranted\r\n$16\r\n1800000000000000\r\n$1\r\n0\r\n"
        "$16\r\n1800000000000000\r\n$1\r\n0\r\n");
  }));
  FaultProxy end(target.port(), none, context);
  RedisPeer node(node_that([&] { return redirection("MOVED", end.port()); }));
  FaultProxy good(node.port(), none, context);
  StoreSpec spec = spec_of("rediss+cluster://127.0.0.1:" + std::to_string(good.port()));
  spec.tls_ca = certificates.ca();
  RedisProgram run(spec);
  const auto reply = run(run.hasty_acquire(Seconds(5)));
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
}

}  // namespace
}  // namespace cronlatch::testing
