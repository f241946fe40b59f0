// SPDX-License-Identifier: Apache-2.0
// Many processes that start at the same time, on each kind of store: exactly one of them runs its
// command.
#include <map>
#include <memory>

#include "gated.h"
#include "support/cluster_group.h"
#include "support/postgres_server.h"
#include "support/sentinel_group.h"

namespace cronlatch::testing {
namespace {

class Starters : public Gated, public ::testing::WithParamInterface<const char*> {
 protected:
  Starters() {
    const std::map<std::string, void (Starters::*)()> start = {
        {"File", &Starters::use_file},
        {"Redis", &Starters::use_redis},
        {"Sentinel", &Starters::use_sentinel},
        {"Cluster", &Starters::use_cluster},
        {"Postgres", &Starters::use_postgres}};
    (this->*start.at(GetParam()))();
  }

 private:
  void use_file() {}
  void use_redis() {
    redis_ = RedisServer::start();
    store = "redis://127.0.0.1:" + std::to_string(redis_->port());
  }
  void use_sentinel() { store = SentinelGroup::shared().url(); }
  void use_cluster() { store = ClusterGroup::shared().url(); }
  void use_postgres() {
    const PostgresServer& server = PostgresServer::shared();
    server("DELETE FROM cronlatch.locks");
    store = server.url("postgres", "?sslmode=disable");  // this role needs no password
  }

  std::unique_ptr<RedisServer> redis_;
};
INSTANTIATE_TEST_SUITE_P(Stores, Starters,
                         ::testing::Values("File", "Redis", "Sentinel", "Cluster", "Postgres"),
                         [](const auto& store) { return std::string(store.param); });

TEST_P(Starters, S1_OfAHundredAtOnceExactlyOneRuns) {
  // Given
  constexpr int kStarters = 100;
  std::vector<std::unique_ptr<Program>> starters;
  // When
  for (int i = 0; i < kStarters; ++i)
    starters.push_back(std::make_unique<Program>(
        run({"--ttl", "60s"}, {"to", file(), "say", "ran", "await", go()})));
  ASSERT_TRUE(told("ran"));
  const auto ended = [&starters] {
    int n = 0;
    for (const auto& each : starters) n += each->exit_code(0ms).has_value() ? 1 : 0;
    return n;
  };
  const bool all_but_one = eventually([&] { return ended() == kStarters - 1; }, 60s);
  touch(go());
  // Then
  EXPECT_TRUE(all_but_one) << ended();
  int skipped = 0;
  for (const auto& each : starters) {
    EXPECT_EQ(each->exit_code(), 0) << each->err();
    skipped += each->err().find("skipped") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(skipped, kStarters - 1);
  EXPECT_EQ(count(read_file(file()), "ran\n"), 1u);
}

}  // namespace
}  // namespace cronlatch::testing
