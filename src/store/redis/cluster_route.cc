// SPDX-License-Identifier: Apache-2.0
#include "store/redis/cluster_route.h"

#include <algorithm>

#include "store/redis/errors.h"

namespace cronlatch::redis {

void ClusterRoute::reset() {
  redirections_ = failures_ = retries_ = 0;
  ask_.reset();
}

void ClusterRoute::begin(TimePoint, TimePoint give_up) { give_up_ = give_up; }

// Each node of the URL gets a share of the time; the last one gets the rest.
std::optional<std::variant<NextServer, Failure>> ClusterRoute::step(const PollSet&, TimePoint now) {
  current_ = ask_ ? *ask_ : home_ ? *home_ : nodes_.front();
  const std::size_t others = nodes_.size() + 1;
  const std::size_t left = failures_ < others ? others - failures_ : 1;
  const Micros share = (give_up_ - now) / static_cast<std::int64_t>(left);
  return NextServer{current_, now + std::max(share, Micros(0)), ask_.has_value(), 0};
}

std::optional<Retry> ClusterRoute::after_failure(const Failure& failure) {
  leave_node();
  redirections_ = 0;
  const bool has_others = ++failures_ <= nodes_.size();
  if (!failure.transient && !has_others) return std::nullopt;
  return Retry{has_others ? Millis(0) : retry_pause(retries_++)};
}

std::optional<Retry> ClusterRoute::after_error(std::string_view text) {
  if (const auto to = parse_redirection(text)) return follow(*to);
  const RedisErrorClass kind = classify_redis_error(text).kind;
  if (kind == RedisErrorClass::tryagain) {
    // The keys of the lock are on two nodes until the hash slot has been moved.
    const bool asked = ask_.has_value();
    ask_.reset();
    redirections_ = 0;
    return Retry{retry_pause(retries_++), /*reconnect=*/asked};
  }
  if (kind == RedisErrorClass::loading) return Retry{retry_pause(retries_++), false};
  // A redirection without an address: another node may have it.
  const bool is_lost = kind == RedisErrorClass::moved || kind == RedisErrorClass::ask;
  if (is_lost || kind == RedisErrorClass::clusterdown || kind == RedisErrorClass::readonly ||
      kind == RedisErrorClass::masterdown) {
    leave_node();
    return Retry{retry_pause(retries_++)};
  }
  return std::nullopt;
}

std::optional<Retry> ClusterRoute::follow(const Redirection& to) {
  StoreHost node = to.to;
  if (node.host.empty()) node.host = current_.host;
  if (to.kind == Redirection::Kind::ask) {
    ask_ = std::move(node);
  } else {
    ask_.reset();
    home_ = std::move(node);
  }
  if (++redirections_ <= kMaxRedirections) return Retry{};
  // Two nodes disagree for a moment.
  redirections_ = 0;
  return Retry{retry_pause(retries_++)};
}

void ClusterRoute::leave_node() {
  if (ask_) {
    ask_.reset();
  } else if (home_) {
    home_.reset();
  } else {
    std::rotate(nodes_.begin(), nodes_.begin() + 1, nodes_.end());
  }
}

Error ClusterRoute::timeout_error() const {
  return {Code::unreachable, "no node of the Redis Cluster answered",
          "check that the nodes in store run"};
}

}  // namespace cronlatch::redis
