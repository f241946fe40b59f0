// SPDX-License-Identifier: Apache-2.0
// The stores that the contract suite runs on.
#include <gtest/gtest.h>

#include <thread>

#include "contract/store_contract.h"
#include "store/file/file_store.h"
#include "store/memory/memory_store.h"
#include "store/open.h"
#include "support/certificates.h"
#include "support/cluster_group.h"
#include "support/postgres_server.h"
#include "support/quorum_group.h"
#include "support/redis_server.h"
#include "support/sentinel_group.h"
#include "unit/store/file/support.h"

namespace cronlatch::testing {
namespace {

class MemoryWorld : public World {
 public:
  std::unique_ptr<Backend> open() override { return std::make_unique<MemoryStore>(server_); }
  bool has_slots() const override { return true; }
  void pass(Millis time) override { now_ = now_ + time; }

 private:
  ServerTime now_{1'800'000'000'000'000};
  MemoryServer server_{[this] { return now_; }};
};

class FileWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    return std::move(open_file_store(dir_ / "locks", [this] { return now_; })).value();
  }
  bool leased() const override { return false; }
  bool shared() const override { return false; }
  bool has_slots() const override { return true; }
  void pass(Millis time) override { now_ = now_ + time; }

 private:
  TempDir dir_;
  ServerTime now_{1'800'000'000'000'000};
};

// One server for each test; its clock is that of this host.
class ServerWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    auto opened = open_store(spec_);
    if (!opened) ADD_FAILURE() << opened.error().message;
    return std::move(opened).value();
  }
  bool wakes() const override { return ordered(); }
  void pass(Millis time) override { std::this_thread::sleep_for(time); }

 protected:
  StoreSpec spec_;
};

// One server of Redis, or several that act as one.
class RedisWorld : public ServerWorld {
 public:
  bool has_slots() const override { return true; }
};

class RedisPlainWorld : public RedisWorld {
 public:
  RedisPlainWorld() { spec_.url = "redis://127.0.0.1:" + std::to_string(server_->port()); }

 private:
  std::unique_ptr<RedisServer> server_ = RedisServer::start();
};

class RedisTlsWorld : public RedisWorld {
 public:
  RedisTlsWorld() {
    spec_.url = "rediss://127.0.0.1:" + std::to_string(server_->tls_port());
    spec_.tls_ca = certificates().ca();
  }

 private:
  // Created once: their creation takes longer than any test.
  static const Certificates& certificates() {
    static const Certificates created;
    return created;
  }
  std::unique_ptr<RedisServer> server_ = RedisServer::start_tls(certificates());
};

// One server for all tests: each has its own key prefix.
class PostgresWorld : public ServerWorld {
 public:
  PostgresWorld() {
    static int worlds = 0;
    spec_ = PostgresServer::shared().spec();
    spec_.key_prefix = "world-" + std::to_string(++worlds) + ":";
  }
  bool has_slots() const override { return true; }
  // Each connection is a process of the server, with a login.
  std::size_t most_programs() const override { return 30; }
};

// One group of servers for all tests; each has keys of its own.
class SentinelWorld : public RedisWorld {
 public:
  SentinelWorld() {
    static int worlds = 0;
    spec_.url = SentinelGroup::shared().url();
    spec_.key_prefix = "world" + std::to_string(++worlds) + ":";
  }
};

class ClusterWorld : public RedisWorld {
 public:
  ClusterWorld() {
    static int worlds = 0;
    spec_.url = ClusterGroup::shared().url();
    spec_.key_prefix = "world" + std::to_string(++worlds) + ":";
  }
};

class QuorumWorld : public ServerWorld {
 public:
  QuorumWorld() {
    static int worlds = 0;
    spec_.url = QuorumGroup::shared().url();
    spec_.max_ttl = Millis(0);  // the servers have just been started
    spec_.key_prefix = "world" + std::to_string(++worlds) + ":";
  }
  bool ordered() const override { return false; }
};

template <class T>
WorldKind kind(const char* name, bool needs_tls_server = false) {
  return {name, [] { return std::make_unique<T>(); }, needs_tls_server};
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    ::testing::Values(kind<MemoryWorld>("Memory"), kind<FileWorld>("File"),
                      kind<RedisPlainWorld>("RedisPlain"), kind<RedisTlsWorld>("RedisTls", true),
                      kind<SentinelWorld>("Sentinel"), kind<ClusterWorld>("Cluster"),
                      kind<QuorumWorld>("Quorum"), kind<PostgresWorld>("Postgres")),
    [](const auto& world) { return world.param.name; });

}  // namespace
}  // namespace cronlatch::testing
