// SPDX-License-Identifier: Apache-2.0
#include "store/quorum/open_quorum.h"

#include <utility>
#include <vector>

#include "store/quorum/quorum_store.h"
#include "store/redis/open_redis.h"

namespace cronlatch::quorum {

Result<std::unique_ptr<Backend>> open_quorum(const StoreSpec& spec, const StoreUrl& url) {
  std::vector<Voter> servers;
  for (const StoreHost& host : url.hosts) {
    StoreUrl one = url;
    one.layout = StoreLayout::single;
    one.host = host.host;
    one.port = host.port;
    one.hosts.clear();
    auto server = redis::open_redis(spec, one);
    if (!server) return server.error();
    servers.emplace_back(host.where(), std::move(server).value());
  }
  return std::unique_ptr<Backend>(std::make_unique<QuorumStore>(std::move(servers), spec.max_ttl));
}

}  // namespace cronlatch::quorum
