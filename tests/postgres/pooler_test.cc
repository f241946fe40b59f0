// SPDX-License-Identifier: Apache-2.0
// Through a real pgbouncer in transaction mode: each transaction of a client may use another
// connection to the server, which other clients used before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/contract.h"
#include "lock_load.h"
#include "pooler.h"
#include "store/open.h"
#include "support/eventually.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

using ::testing::IsEmpty;

class PostgresPooler : public ::testing::Test {
 protected:
  static PostgresServer& server() { return PostgresServer::shared(); }
  static Pooler& pooler() {
    static Pooler shared(server(), 1);  // one connection to the server for all
    return shared;
  }
  static StoreSpec spec(const std::string& prefix) {
    StoreSpec spec = pooler().spec();
    spec.key_prefix = prefix;
    return spec;
  }
  static std::unique_ptr<Backend> opened(const StoreSpec& spec) {
    return std::move(open_store(spec)).value();
  }
  static Acquire acquire(const std::string& lock, const std::string& owner) {
    Acquire request;
    request.lock = lock;
    request.claim = {owner, 1};
    request.identity = {"host-" + owner, "shop/job", "", ""};
    request.ttl = Millis(60'000);
    request.give_up = boot_now() + Seconds(10);
    return request;
  }
};

TEST_F(PostgresPooler, ClientsThatShareOneConnectionNeverShareALock) {
  LockLoad load(spec("pooled-load:"), 6, 2);
  EXPECT_TRUE(load.runs_for(is_long_run() ? 1'500 : 300));
  load.stop();
  EXPECT_THAT(load.violations(), IsEmpty());
  EXPECT_EQ(server().value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'cron'"), "1");
}

TEST_F(PostgresPooler, HasEveryRequestOfAStore) {
  const StoreSpec own = spec("pooled-verbs:");
  const auto one = opened(own);
  const auto two = opened(own);
  const auto granted = send_and_wait(*one, acquire("a", "1"));
  ASSERT_TRUE(granted && std::holds_alternative<Granted>(*granted));
  const auto busy = send_and_wait(*two, acquire("a", "2"));
  ASSERT_TRUE(busy && std::holds_alternative<Busy>(*busy));
  EXPECT_EQ(std::get<Busy>(*busy).holder, "host-1");
  const Fence fence = std::get<Granted>(*granted).fence;
  Renew renew{.lock = "a",
              .claim = {"1", 1},
              .identity = {},
              .fence = fence,
              .ttl = Millis(60'000),
              .give_up = boot_now() + Seconds(10)};
  const auto renewed = send_and_wait(*one, renew);
  EXPECT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed));
  const auto shown = two->show("a", boot_now() + Seconds(10));
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  EXPECT_EQ(shown->state, LockState::held);
  const auto listed = two->list(boot_now() + Seconds(10));
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->size(), 1u);
  const auto revoked = two->revoke("a", boot_now() + Seconds(10));
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_TRUE(revoked->was_held);
  renew.give_up = boot_now() + Seconds(10);
  const auto lost = send_and_wait(*one, renew);
  ASSERT_TRUE(lost && std::holds_alternative<NotHolder>(*lost));
  EXPECT_EQ(std::get<NotHolder>(*lost).reason, LostReason::revoked);
  Release release;
  release.lock = "a";
  release.claim = {"1", 1};
  release.fence = fence;
  release.give_up = boot_now() + Seconds(10);
  const auto released = send_and_wait(*one, release);
  EXPECT_TRUE(released && std::holds_alternative<Released>(*released));
}

TEST_F(PostgresPooler, FindsTheServerAgainAfterItsRestart) {
  const auto own = PostgresServer::start();
  Pooler front(*own);
  const auto store = opened(front.spec());
  ASSERT_TRUE(send_and_wait(*store, acquire("a", "1")));
  own->kill_now();
  Acquire failed = acquire("a", "2");
  failed.give_up = boot_now() + Millis(500);
  const auto down = send_and_wait(*store, failed);
  EXPECT_TRUE(down && std::holds_alternative<Unavailable>(*down));
  own->restart();
  EXPECT_TRUE(eventually([&] {
    const auto reply = send_and_wait(*store, acquire("a", "2"));
    return reply && std::holds_alternative<Busy>(*reply);
  }));
}

}  // namespace
}  // namespace cronlatch::testing
