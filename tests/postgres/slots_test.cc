// SPDX-License-Identifier: Apache-2.0
// Several slots: programs and schemas of version 3, what is stored, and a crash of the server. The
// rules are tested by property_test.cc, the store by tests/contract.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "contract/contract.h"
#include "store/open.h"
#include "store/postgres/open_postgres.h"
#include "support/eventually.h"
#include "support/postgres_server.h"
#include "support/source_dir.h"

namespace cronlatch::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OneServer : public World {
 public:
  explicit OneServer(const PostgresServer& server, const std::string& prefix = "cronlatch:")
      : spec_(server.spec()) {
    spec_.key_prefix = prefix;
  }
  std::unique_ptr<Backend> open() override { return std::move(open_store(spec_)).value(); }
  void pass(Millis) override {}

 private:
  StoreSpec spec_;
};

Acquire with_slots(const Caller& program, unsigned slots) {
  Acquire request = program.acquire();
  request.slots = slots;
  return request;
}

Renew renew_with_slots(const Caller& program, unsigned slots, Fence fence = 0) {
  Renew request = program.renew(fence);
  request.slots = slots;
  return request;
}

template <class T>
bool is(const std::optional<Reply>& reply) {
  return reply && std::holds_alternative<T>(*reply);
}

Error refusal(const std::optional<Reply>& reply) {
  if (is<Unavailable>(reply)) return std::get<Unavailable>(*reply).error;
  ADD_FAILURE() << "not refused";
  return {};
}

// A server with the schema of version 3, as that version created it.
std::unique_ptr<PostgresServer> server_of_version_3() {
  auto own = PostgresServer::start(false);
  std::ifstream file(source_dir() + "/tests/postgres/schema_3.sql");
  const std::string schema{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(schema.empty());
  (*own)("SET ROLE cronlatch_owner; " + schema);
  return own;
}

void upgrade(const PostgresServer& own) {
  const auto upgraded =
      postgres::create_schema(own.spec("cronlatch_owner"), boot_now() + Seconds(30));
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
}

// The request of a program of version 3: one parameter less.
std::string acquire_of_version_3(const std::string& owner) {
  return "cronlatch.acquire('cronlatch:', 'shop/report', 9000000000000000, '" + owner +
         "', 1, 60000000, 'old-host', 'shop/report', '', '', 0, 'wait', 0, '0', 0)";
}
std::string verdict_of_version_3(const PostgresServer& server, const std::string& owner) {
  return server.value("SET ROLE cron; SELECT o_verdict FROM " + acquire_of_version_3(owner));
}

TEST(PostgresSlots, ASchemaOfVersion3HasOneSlotUntilItIsUpgraded) {
  const auto own = server_of_version_3();
  OneServer world(*own);
  Caller one(world, "shop/report", "1"), two(world, "shop/report", "2");
  const Error refused = refusal(one(with_slots(one, 2)));
  EXPECT_EQ(refused.code, Code::config);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("slots is 2"), HasSubstr("version 3")));
  EXPECT_THAT(refused.hint, HasSubstr("cronlatch store init"));
  EXPECT_EQ(own->value("SELECT count(*) FROM cronlatch.locks"), "0") << "nothing is changed";
  // One slot: every verb, and the list
  ASSERT_TRUE(is<Granted>(one(one.acquire())));
  ASSERT_TRUE(is<Busy>(two(two.acquire())));
  EXPECT_TRUE(is<Renewed>(one(one.renew(0))));
  EXPECT_EQ(one.show().slots, 1u);
  EXPECT_EQ(one.backend().list(boot_now() + kPatience)->size(), 1u);

  upgrade(*own);
  // The lock stays held, also on the connection of before.
  EXPECT_TRUE(is<Renewed>(one(one.renew(0))));
  Caller three(world, "shop/report", "3"), four(world, "shop/report", "4");
  EXPECT_THAT(refusal(three(with_slots(three, 2))).message,
              HasSubstr("has 1, which is held by host-of-1"));
  EXPECT_TRUE(is<Released>(one(one.release(0))));
  EXPECT_TRUE(is<Granted>(three(with_slots(three, 2))));
  EXPECT_TRUE(is<Granted>(four(with_slots(four, 2))));
}

TEST(PostgresSlots, AProgramOfVersion3ExcludesRunsWithSlotsAndIsExcludedByThem) {
  const auto own = PostgresServer::start();
  OneServer world(*own);
  Caller one(world, "shop/report", "1"), two(world, "shop/report", "2");
  EXPECT_EQ(verdict_of_version_3(*own, "old"), "granted");
  EXPECT_THAT(refusal(one(with_slots(one, 2))).message, HasSubstr("has 1, which is held by old-"));
  EXPECT_EQ(own->value("SET ROLE cron; SELECT o_verdict FROM cronlatch.renew('cronlatch:', "
                       "'shop/report', 9000000000000000, 'old', 1, 0, 60000000, '', '', '', '')"),
            "kept");
  EXPECT_EQ(own->value("SET ROLE cron; SELECT o_verdict FROM cronlatch.release('cronlatch:', "
                       "'shop/report', 9000000000000000, 'old', 1, 0, 'succeeded', false, 1, '0', "
                       "0, 0, 'shop/report', '', false, '')"),
            "released");

  ASSERT_TRUE(is<Granted>(one(with_slots(one, 2))));
  // CL001 is an error of the configuration for that program. Its message contains the text.
  EXPECT_EQ(own->value("SET ROLE cron; DO $$ BEGIN PERFORM " + acquire_of_version_3("old-2") +
                       "; EXCEPTION WHEN SQLSTATE 'CL001' THEN PERFORM set_config('test.refused', "
                       "SQLERRM, false); END $$; SELECT current_setting('test.refused', true)"),
            "slots is 1, and lock shop/report has 2, which is held by host-of-1");
  EXPECT_EQ(own->value("SET ROLE cron; SELECT count(*) || min(o_state) || min(o_holder) FROM "
                       "cronlatch.view('cronlatch:', NULL, 10)"),
            "1heldhost-of-1")
      << "its list";
  EXPECT_TRUE(is<Granted>(two(with_slots(two, 2))));
  EXPECT_TRUE(is<Released>(one(one.release(0))));
  EXPECT_TRUE(is<Released>(two(two.release(0))));
  EXPECT_EQ(verdict_of_version_3(*own, "old-3"), "granted") << "after the last release";
}

TEST(PostgresSlots, OneSlotIsStoredInTheRowOfTheLock) {
  PostgresServer& server = PostgresServer::shared();
  OneServer world(server, "row:");
  Caller one(world, "shop/report", "1"), two(world, "shop/report", "2");
  const auto rows = [&] {
    return server.value(
        "SELECT (SELECT count(*) FROM cronlatch.slots s WHERE s.lock_id = l.id) || ' ' || state "
        "FROM cronlatch.locks l WHERE prefix = 'row:'");
  };
  ASSERT_TRUE(is<Granted>(one(one.acquire())));
  EXPECT_EQ(rows(), "0 held");
  EXPECT_TRUE(is<Released>(one(one.release(0))));
  ASSERT_TRUE(is<Granted>(two(with_slots(two, 3))));
  EXPECT_EQ(rows(), "3 several");
  EXPECT_TRUE(is<Released>(two(two.release(0))));
  EXPECT_EQ(rows(), "0 free");
}

// Also after the last connection is lost, the holders are as many as the lock has slots.
TEST(PostgresSlots, SurviveACrashOfTheServer) {
  const auto own = PostgresServer::start();
  OneServer world(*own);
  Caller one(world, "shop/report", "1"), two(world, "shop/report", "2"),
      three(world, "shop/report", "3");
  ASSERT_TRUE(is<Granted>(one(with_slots(one, 2))));
  ASSERT_TRUE(is<Granted>(two(with_slots(two, 2))));
  own->kill_now();
  own->restart();
  EXPECT_TRUE(is<Busy>(three(with_slots(three, 2))));
  // The first request finds that its connection is closed.
  for (Caller* holder : {&one, &two})
    EXPECT_TRUE(eventually([&] { return is<Renewed>((*holder)(renew_with_slots(*holder, 2))); }));
  // The rows of the lock are lost, and its holders restore them.
  (*own)("DELETE FROM cronlatch.locks");
  const Fence fence = 1'790'000'000'000'000;
  for (Caller* holder : {&one, &two}) {
    const auto restored = (*holder)(renew_with_slots(*holder, 2, fence));
    ASSERT_TRUE(is<Renewed>(restored));
    EXPECT_TRUE(std::get<Renewed>(*restored).restored);
  }
  EXPECT_TRUE(is<NotHolder>(three(renew_with_slots(three, 2, fence))));
}

TEST(PostgresSlots, AreKeptWithinLimitsAndDamagedSlotsAreShown) {
  const auto own = PostgresServer::start();
  OneServer world(*own);
  Caller one(world, "shop/report", "1"), two(world, "shop/other", "2");
  for (const unsigned slots : {0U, 1'001U})
    EXPECT_THAT(refusal(one(with_slots(one, slots))).message, HasSubstr("limit")) << slots;
  EXPECT_EQ(own->value("SELECT count(*) FROM cronlatch.locks"), "0");
  ASSERT_TRUE(is<Granted>(one(with_slots(one, 1'000))));
  ASSERT_TRUE(is<Granted>(two(with_slots(two, 2))));
  (*own)("ALTER TABLE cronlatch.slots DROP CONSTRAINT slots_numbers");
  (*own)(
      "UPDATE cronlatch.slots SET ttl = -1 WHERE slot = 2 AND lock_id = (SELECT id FROM "
      "cronlatch.locks WHERE lock = 'shop/other')");
  const auto views = one.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(views.ok());
  ASSERT_EQ(views->size(), 2u);
  EXPECT_EQ(views->front().state, LockState::damaged);
  EXPECT_EQ(views->back().slots, 1'000u);
}

TEST(PostgresSlots, ALockIsDeletedAfter90DaysUnlessARunHoldsASlot) {
  PostgresServer& server = PostgresServer::shared();
  OneServer world(server, "purge-slots:");
  for (const std::string lock : {"old/held", "old/cooling"}) {
    Caller holder(world, lock, "1");
    ASSERT_TRUE(is<Granted>(holder(with_slots(holder, 2))));
  }
  server(
      "UPDATE cronlatch.slots SET state = 'cooling' WHERE state = 'held' AND lock_id = (SELECT "
      "id FROM cronlatch.locks WHERE lock = 'old/cooling')");
  server("UPDATE cronlatch.locks SET used_day = 10 WHERE prefix = 'purge-slots:'");
  Caller other(world, "new", "1");
  ASSERT_TRUE(is<Granted>(other(other.acquire())));
  EXPECT_EQ(server.value("SELECT string_agg(lock, ' ' ORDER BY lock) FROM cronlatch.locks WHERE "
                         "prefix = 'purge-slots:'"),
            "new old/held");
}

}  // namespace
}  // namespace cronlatch::testing
