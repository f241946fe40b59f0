// SPDX-License-Identifier: Apache-2.0
// SentinelQuery: one connection to one Sentinel and its answer for the address of a master. Never
// blocks. Destroying it closes the connection.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/store_url.h"
#include "store/redis/resolver.h"
#include "store/redis/session.h"

namespace cronlatch::redis {

// What the queries of one store have in common.
struct SentinelConfig {
  std::vector<StoreHost> sentinels;
  std::string master;
  std::string user;  // of the Sentinels
  Secret password;
  std::string tls_server_name;   // "" = the host of each Sentinel
  bool counts_replicas = false;  // the answer contains the number of replicas
  ResolverSettings resolver;
};

struct NamedMaster {
  StoreHost host;
  std::size_t replicas = 0;  // all that the Sentinel reports, also those that are down
};
struct UnknownMaster {};  // the Sentinel monitors no master of that name

class SentinelQuery {
 public:
  using Answer = std::variant<NamedMaster, UnknownMaster, Failure>;

  // Starts to connect. `config` and `tls` (null: plain TCP) must outlive the query.
  SentinelQuery(const SentinelConfig& config, const StoreHost& sentinel, TlsContext* tls,
                TimePoint now);
  SentinelQuery(const SentinelQuery&) = delete;
  SentinelQuery& operator=(const SentinelQuery&) = delete;

  void watch(PollSet& set) const { session_.watch(set); }
  std::optional<Answer> step(const PollSet& set, TimePoint now);
  Error timeout_error() const;

 private:
  Answer answer_of(const Resp& answer) const;
  Failure failure_of(const Resp& answer) const;
  Error of_sentinel(Error error) const;

  const SentinelConfig& config_;
  RedisLogin login_;
  Resolver resolver_;
  std::vector<Address> failed_;
  RedisSession session_;
  bool is_sent_ = false;
  std::optional<StoreHost> master_;  // while the number of its replicas is missing
};

}  // namespace cronlatch::redis
