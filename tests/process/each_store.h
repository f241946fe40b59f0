// SPDX-License-Identifier: Apache-2.0
// Runs on the kind of store that the test's parameter names: File, Redis, Sentinel, Strict (with
// Sentinels), Cluster, Quorum or Postgres. Redis is a server of the test; the others are shared by
// all tests of the program, and PostgreSQL is empty.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "gated.h"
#include "support/cluster_group.h"
#include "support/postgres_server.h"
#include "support/quorum_group.h"
#include "support/sentinel_group.h"

namespace cronlatch::testing {

class OnEachStore : public Gated, public ::testing::WithParamInterface<const char*> {
 protected:
  OnEachStore() {
    const std::map<std::string, void (OnEachStore::*)()> kinds = {
        {"File", &OnEachStore::use_file},         {"Redis", &OnEachStore::use_redis},
        {"Sentinel", &OnEachStore::use_sentinel}, {"Strict", &OnEachStore::use_strict},
        {"Cluster", &OnEachStore::use_cluster},   {"Quorum", &OnEachStore::use_quorum},
        {"Postgres", &OnEachStore::use_postgres}};
    (this->*kinds.at(GetParam()))();
  }

  // A quorum refuses a longer lease, and grants nothing until its servers have run for so long.
  static constexpr int kQuorumMaxTtl = 20;
  Words needed;  // options without which a run does not use this kind of store

 private:
  void use_file() {}
  void use_redis() {
    redis_ = RedisServer::start();
    store = "redis://127.0.0.1:" + std::to_string(redis_->port());
  }
  void use_sentinel() { store = SentinelGroup::shared().url(); }
  void use_cluster() { store = ClusterGroup::shared().url(); }
  // With an epoch of its own, written before the first run: no quarantine.
  void use_strict() {
    use_sentinel();
    needed = {"--strict", "--min-replicas", "2", "--key-prefix", "strict:"};
    Program init(
        {.argv = {binary(), "store", "init", "--store", store, "--key-prefix", "strict:"}});
    EXPECT_EQ(init.exit_code(), 0) << init.err();
  }
  void use_quorum() {
    store = QuorumGroup::shared().url();
    needed = {"--max-ttl", std::to_string(kQuorumMaxTtl) + "s"};
    EXPECT_TRUE(QuorumGroup::shared().run_for(kQuorumMaxTtl));
  }
  void use_postgres() {
    const PostgresServer& server = PostgresServer::shared();
    server("DELETE FROM cronlatch.locks");
    store = server.url("postgres", "?sslmode=disable");  // this role needs no password
  }

  std::unique_ptr<RedisServer> redis_;
};

inline std::string name_of_store(const ::testing::TestParamInfo<const char*>& store) {
  return store.param;
}

}  // namespace cronlatch::testing
