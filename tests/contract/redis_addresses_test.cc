// SPDX-License-Identifier: Apache-2.0
// A store's name with several addresses: dead addresses, silent ones, and ones with the wrong
// role.
#include <arpa/inet.h>
#include <fcntl.h>

#include "base/fd.h"
#include "contract/redis_support.h"
#include "store/redis/redis_store.h"
#include "support/dns_server.h"
#include "support/redis_peer.h"

namespace cronlatch::testing {
namespace {

class AddressWorld : public World {
 public:
  AddressWorld(int port, const std::string& dns) {
    config_.host = "redis.test.";
    config_.port = static_cast<std::uint16_t>(port);
    config_.login.where = "redis.test:" + std::to_string(port);
    config_.key_prefix = "cronlatch:";
    config_.resolver.servers = dns;
  }
  std::unique_ptr<Backend> open() override { return std::make_unique<redis::RedisStore>(config_); }
  void pass(Millis) override {}

 private:
  redis::RedisConfig config_;
};

// A socket of 127.0.0.2 that neither accepts nor refuses a connection: its queue is full.
class SilentAddress {
 public:
  explicit SilentAddress(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
    const auto* where = reinterpret_cast<sockaddr*>(&address);
    listener_ = Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ready_ = bind(listener_.get(), where, sizeof address) == 0 && listen(listener_.get(), 0) == 0;
    for (Fd& filler : fillers_) {
      filler = Fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      connect(filler.get(), where, sizeof address);
    }
  }
  bool ready() const { return ready_; }

 private:
  Fd listener_;
  Fd fillers_[4];
  bool ready_ = false;
};

TEST(RedisAddresses, AreTriedInOrderWhenTheFirstRefuses) {
  const auto server = RedisServer::start();
  DnsServer dns(DnsServer::Records{{"redis.test", {"127.0.0.2", "127.0.0.1"}}});
  AddressWorld world(server->port(), dns.address());
  Caller run(world, "shop/report", "aa11");
  const auto reply = run(run.acquire());
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
}

TEST(RedisAddresses, AreTriedInOrderWhenTheFirstDoesNotAnswer) {
  const auto server = RedisServer::start();
  const SilentAddress silent(server->port());
  ASSERT_TRUE(silent.ready());
  DnsServer dns(DnsServer::Records{{"redis.test", {"127.0.0.2", "127.0.0.1"}}});
  AddressWorld world(server->port(), dns.address());
  Caller run(world, "shop/report", "aa11");
  const TimePoint start = boot_now();
  const auto reply = run(run.acquire());
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  EXPECT_LT(boot_now() - start, Millis(5'000));  // connect-timeout, by default
}

TEST(RedisAddresses, OfAReplicaAreTriedLastNextTime) {
  // given: a server that is now a replica
  const auto master = RedisServer::start();
  RedisPeer replica(
      RedisPeer::to_eval("-READONLY You can't write against a read only replica.\r\n"),
      RedisPeer::Pace::at_once, "", {"127.0.0.2", master->port()});
  DnsServer dns(DnsServer::Records{{"redis.test", {"127.0.0.2"}}});
  AddressWorld world(master->port(), dns.address());
  Caller run(world, "shop/report", "aa11");
  const auto refused = run(run.acquire());
  ASSERT_NE(unavailable_in(refused), nullptr) << reply_text(refused);
  // when: its name gets a second address, behind the first
  dns.set({{"redis.test", {"127.0.0.2", "127.0.0.1"}}});
  const auto reply = run(run.acquire());
  // then
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
}

// TCP to a multicast address is refused by the kernel inside connect(), like an address without a
// route.
constexpr const char* kRefusedAtOnce = "224.0.0.1";

TEST(RedisAddresses, ThatTheKernelRefusesAtOnceAreReportedAtOnce) {
  RedisWorld world(spec_of("redis://" + std::string(kRefusedAtOnce) + ":6379"));
  Caller run(world, "shop/report", "aa11");
  // when
  const TimePoint now = boot_now();
  run.backend().send(run.acquire(), now);
  const auto reply = run.backend().step(PollSet{}, now);
  // then: before the request's deadline, so that a run retries after its usual pause
  const Unavailable* down = unavailable_in(reply);
  ASSERT_NE(down, nullptr) << reply_text(reply);
  EXPECT_TRUE(down->transient);
  EXPECT_TRUE(down->unsent);
  EXPECT_THAT(down->error.message, ::testing::HasSubstr("Network is unreachable"));
}

TEST(RedisAddresses, ThatTheKernelRefusesAtOnceAreReportedAtOnceByListToo) {
  RedisWorld world(spec_of("redis://" + std::string(kRefusedAtOnce) + ":6379"));
  const auto backend = world.open();
  // when
  const TimePoint start = boot_now();
  const auto view = backend->show("shop/report", start + kPatience);
  // then
  EXPECT_LT(boot_now() - start, kPatience);
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().message, ::testing::HasSubstr("Network is unreachable"));
}

TEST(RedisAddresses, ThatTheKernelRefusedAreTriedLastNextTime) {
  const auto server = RedisServer::start();
  DnsServer dns(DnsServer::Records{{"redis.test", {kRefusedAtOnce}}});
  AddressWorld world(server->port(), dns.address());
  Caller run(world, "shop/report", "aa11");
  const TimePoint start = boot_now();
  const auto refused = run(run.acquire());
  ASSERT_NE(unavailable_in(refused), nullptr) << reply_text(refused);
  EXPECT_LT(boot_now() - start, kPatience);
  EXPECT_THAT(reply_text(refused), ::testing::HasSubstr("Network is unreachable"));
  // when
  dns.set({{"redis.test", {kRefusedAtOnce, "127.0.0.1"}}});
  const auto reply = run(run.acquire());
  // then
  EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
}

}  // namespace
}  // namespace cronlatch::testing
