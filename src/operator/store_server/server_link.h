// SPDX-License-Identifier: Apache-2.0
// ServerLink: gives the store server its users and its renewed certificate. It opens a connection
// for each call, as the admin user. One thread; blocks at most for the time limit of a call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/store_url.h"
#include "operator/store_server/server_secret.h"
#include "operator/store_server/users.h"

namespace cronlatch::redis {
class RedisStore;
}

namespace cronlatch::op {

// What a server must have.
struct ServerSetup {
  std::vector<ServerUser> users;
  std::string key_prefix;
};

class ServerLink {
 public:
  // `url`: of one server with TLS.
  explicit ServerLink(StoreUrl url) : url_(std::move(url)) {}

  // The server has these users and no other user of a namespace, or an error. It is changed only
  // when it was restarted, when the setup changed, or when the last change is kReapplyInterval old.
  // `now`: of the same clock in all calls.
  Status apply(const StoreServerState& state, const ServerSetup& setup, TimePoint now);

 private:
  struct Applied {
    std::string run_id;  // of the server's process
    std::vector<ServerUser> users;
    TimePoint at;
  };
  Status apply_to(redis::RedisStore& server, const ServerSetup& setup, TimePoint now);

  const StoreUrl url_;
  std::optional<Applied> applied_;
};

inline constexpr Seconds kReapplyInterval{600};

}  // namespace cronlatch::op
