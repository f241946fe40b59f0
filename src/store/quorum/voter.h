// SPDX-License-Identifier: Apache-2.0
// Voter: one server of a quorum. It executes its requests in their order, one at a time. A slow
// server therefore delays its own requests only.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/lock_stats.h"
#include "core/store.h"

namespace cronlatch::quorum {

class Voter {
 public:
  // `endpoint`: host:port, for display.
  Voter(std::string endpoint, std::unique_ptr<Backend> server)
      : endpoint_(std::move(endpoint)), server_(std::move(server)) {}

  void send(const Request& request, TimePoint now);
  void watch(PollSet& set) const { server_->watch(set); }
  void step(const PollSet& set, TimePoint now);
  // To the last request; none: not yet.
  const std::optional<Reply>& reply() const { return reply_; }
  // The server may have a grant that was not followed by a confirmed release.
  bool may_hold() const { return may_hold_; }
  // The server confirmed a grant or a renewal, and reported no loss or release since.
  bool has_confirmed() const { return has_confirmed_; }
  bool is_idle() const { return requests_.empty(); }
  Backend& server() { return *server_; }
  const std::string& endpoint() const { return endpoint_; }

 private:
  void start(TimePoint now);
  void update_hold(const Request& request, const Reply& reply);

  std::string endpoint_;
  std::unique_ptr<Backend> server_;
  std::deque<Request> requests_;  // the first one is being executed
  std::optional<Reply> reply_;
  bool may_hold_ = false;
  bool has_confirmed_ = false;
};

}  // namespace cronlatch::quorum
