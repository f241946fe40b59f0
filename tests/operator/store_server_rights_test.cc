// SPDX-License-Identifier: Apache-2.0
// The rights of a namespace's user on a real Redis: a gated run works wholly, and no key of another
// namespace can be read or changed.
#include "store_server_scene.h"

#include "store/open.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class StoreServerRights : public StoreServerScene {
 protected:
  std::string took_turns() const { return read_file(file("order")); }
  // Runs one after another, each with its letter; the first holds the lock until `go` exists.
  std::unique_ptr<Program> waiting(const std::string& letter) const {
    auto program = std::make_unique<Program>(
        run("shop", "shop/queue", {"--on-busy", "wait", "--wait-timeout", "1m"},
            {"/bin/sh", "-c", "printf " + letter + " >> " + file("order")}));
    EXPECT_TRUE(program->complains("waiting"));
    return program;
  }
  // As the exporter: with the credentials that the operator mounts.
  Result<std::vector<LockView>> read_by_operator() const {
    StoreSpec spec;
    spec.url = settings_.store;
    spec.username = stored("operator-username");
    spec.password = Secret(stored("operator-password"));
    spec.tls_ca = file("ca.crt");
    auto store = open_store(spec);
    if (!store) return store.error();
    return (*store)->list(boot_now() + Seconds(5), 1'000);
  }
};

TEST_F(StoreServerRights, ARunAcquiresRenewsMarksAndReleases) {
  NEEDS_TLS_SERVER();
  start();
  const Words options = {"--renew-every",   "200ms", "--once-per", "tick",
                         "--attempt-group", "uid",   "--min-hold", "1s"};
  Program program(run("shop", "shop/nightly", options, {"/bin/sleep", "1"}));
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  // The identity is done: the release could write everything.
  Program again(run("shop", "shop/nightly", options, {"/usr/bin/touch", file("again")}));
  EXPECT_EQ(again.exit_code(), 0) << again.err();
  EXPECT_FALSE(exists(file("again")));
}

TEST_F(StoreServerRights, ASecondRunIsSkippedAndTheOperatorReadsAllOfIt) {
  NEEDS_TLS_SERVER();
  start();
  Program holder(run("shop", "shop/nightly", {},
                     {talking_child(), "say", "began", "await", file("go"), "exit", "0"}));
  ASSERT_TRUE(holder.says("began"));
  Program second(run("shop", "shop/nightly", {}, {"/usr/bin/touch", file("second")}));
  EXPECT_EQ(second.exit_code(), 0) << second.err();
  EXPECT_FALSE(exists(file("second")));
  // The name is in the index, which the user of the namespace cannot read.
  const auto locks = read_by_operator();
  ASSERT_TRUE(locks) << locks.error().message;
  ASSERT_EQ(locks->size(), 1U);
  EXPECT_EQ(locks->front().lock, "shop/nightly");
  EXPECT_EQ(locks->front().state, LockState::held);
  write(file("go"), "");
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
}

TEST_F(StoreServerRights, RunsWaitInOrder) {
  NEEDS_TLS_SERVER();
  start();
  Program holder(run("shop", "shop/queue", {},
                     {talking_child(), "say", "began", "await", file("go"), "exit", "0"}));
  ASSERT_TRUE(holder.says("began"));
  const auto a = waiting("a"), b = waiting("b"), c = waiting("c");
  write(file("go"), "");
  for (const auto& program : {a.get(), b.get(), c.get()})
    EXPECT_EQ(program->exit_code(), 0) << program->err();
  EXPECT_EQ(took_turns(), "abc");
}

TEST_F(StoreServerRights, ALockHasSeveralSlots) {
  NEEDS_TLS_SERVER();
  start();
  const auto hold = [&] {
    return run("shop", "shop/slots", {"--slots", "2"},
               {talking_child(), "say", "began", "await", file("go"), "exit", "0"});
  };
  Program first(hold()), second(hold());
  ASSERT_TRUE(first.says("began"));
  ASSERT_TRUE(second.says("began"));
  Program third(run("shop", "shop/slots", {"--slots", "2", "--on-busy", "fail"}, {"/bin/true"}));
  EXPECT_EQ(third.exit_code(), 75) << third.err();
  write(file("go"), "");
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  EXPECT_EQ(second.exit_code(), 0) << second.err();
}

TEST_F(StoreServerRights, ARunOfAnotherNamespacesLockIsRefused) {
  NEEDS_TLS_SERVER();
  start();
  for (const std::string lock : {"shop-2/x", "shop", "_cluster/x", "other/x"}) {
    Program program(run("shop", lock, {}, {"/usr/bin/touch", file("never")}));
    EXPECT_EQ(program.exit_code(), 77) << lock << ": " << program.err();
    EXPECT_FALSE(exists(file("never"))) << lock;
  }
  Program cluster(run("shop-2", "_cluster/x", {}, {"/bin/true"}));
  EXPECT_EQ(cluster.exit_code(), 0) << cluster.err();
}

TEST_F(StoreServerRights, NoCommandReachesAKeyOfAnotherNamespace) {
  NEEDS_TLS_SERVER();
  start();
  auto shop = client("ns-shop", of_namespace("shop", "password"));
  ASSERT_TRUE(is_logged_in_);
  const auto refuses = [&](const Words& command) {
    const RedisAnswer answer = (*shop)(command);
    EXPECT_TRUE(answer.is_error()) << command[0] << " " << command.back();
    EXPECT_THAT(answer.text, ::testing::AnyOf(HasSubstr("NOPERM"), HasSubstr("can't access"),
                                              HasSubstr("can't run")))
        << command[0];
  };
  ASSERT_FALSE((*shop)({"HSET", "cronlatch:{shop/x}", "a", "b"}).is_error());
  for (const std::string key :
       {"cronlatch:{shop-2/x}", "cronlatch:{shop}", "cronlatch:{_cluster/x}", "cronlatch:index",
        "cronlatch:epoch", "other:{shop/x}", "cronlatch:{other/x}:stats"}) {
    refuses({"HSET", key, "a", "b"});
    refuses({"HGETALL", key});
    refuses({"HMGET", key, "a"});
    refuses({"TYPE", key});
    refuses({"PEXPIRE", key, "1"});
    refuses({"ZREM", key, "a"});
    refuses({"ZRANGEBYSCORE", key, "-inf", "+inf"});
    refuses({"RPUSH", key, "a"});
    refuses({"EVAL", "return redis.call('HSET', '" + key + "', 'a', 'b')", "0"});
  }
  // Of the index, a user can only add a name.
  EXPECT_FALSE((*shop)({"ZADD", "cronlatch:index", "1", "shop/x"}).is_error());
  refuses({"ZREM", "cronlatch:index", "shop/x"});
  for (const Words& command : std::vector<Words>{{"KEYS", "*"},
                                                 {"SCAN", "0"},
                                                 {"FLUSHALL"},
                                                 {"CONFIG", "GET", "*"},
                                                 {"ACL", "LIST"},
                                                 {"INFO"},
                                                 {"MONITOR"},
                                                 {"CLIENT", "LIST"},
                                                 {"PUBLISH", "a", "b"},
                                                 {"DEL", "cronlatch:{shop/x}"}})
    refuses(command);
}

TEST_F(StoreServerRights, TheOperatorsReaderChangesNothing) {
  NEEDS_TLS_SERVER();
  start();
  auto reader = client("operator", stored("operator-password"));
  ASSERT_TRUE(is_logged_in_);
  EXPECT_FALSE((*reader)({"HGETALL", "cronlatch:{shop/x}"}).is_error());
  EXPECT_TRUE((*reader)({"HSET", "cronlatch:{shop/x}", "a", "b"}).is_error());
  EXPECT_TRUE((*reader)({"ACL", "LIST"}).is_error());
}

}  // namespace
}  // namespace cronlatch::testing
