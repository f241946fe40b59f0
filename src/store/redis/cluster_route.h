// SPDX-License-Identifier: Apache-2.0
// ClusterRoute: the node of the last lock, found by the redirections of other nodes. A run has one
// lock, so one redirection finds its node, and no table of hash slots is needed.
#pragma once

#include <string>
#include <vector>

#include "store/redis/cluster_reply.h"
#include "store/redis/route.h"

namespace cronlatch::redis {

// Without a pause between them.
inline constexpr std::size_t kMaxRedirections = 5;

class ClusterRoute : public Route {
 public:
  explicit ClusterRoute(std::vector<StoreHost> nodes) : nodes_(std::move(nodes)) {}

  void reset() override;
  void begin(TimePoint now, TimePoint give_up) override;
  void watch(PollSet&) const override {}
  std::optional<std::variant<NextServer, Failure>> step(const PollSet& set, TimePoint now) override;
  std::optional<Retry> after_failure(const Failure& failure) override;
  std::optional<Retry> after_error(std::string_view text) override;
  Error timeout_error() const override;

 private:
  std::optional<Retry> follow(const Redirection& to);
  // The next connection goes to another node of the URL.
  void leave_node();

  std::vector<StoreHost> nodes_;   // of the URL; the next one to try is the first
  std::optional<StoreHost> home_;  // the node of the lock
  std::optional<StoreHost> ask_;   // the node that gets the hash slot; for one request
  StoreHost current_;
  TimePoint give_up_{};
  std::size_t redirections_ = 0;            // since the last failure
  std::size_t failures_ = 0, retries_ = 0;  // of this request
};

}  // namespace cronlatch::redis
