// SPDX-License-Identifier: Apache-2.0
// RedisStore with a Route: the connection to the server that the Route names, and the retries of a
// request within its deadline. A request may be sent again after an unknown result, because each
// request is idempotent (core/store.h).
#include <algorithm>
#include <utility>

#include "base/kernel_clock.h"
#include "store/redis/redis_store.h"
#include "store/redis/wait.h"

namespace cronlatch::redis {
namespace {

constexpr const char* kNameHint =
    "nodes are named as they are announced: set tls-server-name to a name that every certificate "
    "contains, or let the servers announce host names (sentinel announce-hostnames, "
    "cluster-announce-hostname)";

}  // namespace

void RedisStore::start_routed_request() {
  if (route_ == nullptr) return;
  if (next_ && next_->asking) session_.reset();  // ASK is for one request
  route_->reset();
  is_searching_ = false;
  retry_at_.reset();
  last_error_.reset();
}

void RedisStore::watch_route(PollSet& set) const {
  if (retry_at_) return set.wake_by(*retry_at_);
  if (is_searching_) return route_->watch(set);
  if (session_ == nullptr || session_->is_ready()) return;
  // A connection that failed at once has no descriptor, either.
  set.wake_by(session_->failure() ? TimePoint{} : next_->connect_by);
}

std::optional<Failure> RedisStore::approach(const PollSet& set, TimePoint now, TimePoint give_up) {
  if (retry_at_) {
    if (now < *retry_at_) return std::nullopt;
    retry_at_.reset();
  }
  if (session_ != nullptr) {
    if (session_->is_ready()) {
      if (server_ != next_->host) {
        if (server_ && config_.login.role == ServerRole::master && config_.warn)
          config_.warn({Level::warn,
                        "store_switched",
                        "the store has another master: " + next_->host.where(),
                        {{"master", next_->host.where()}, {"before", server_->where()}}});
        server_ = next_->host;
      }
      return std::nullopt;
    }
    if (now < next_->connect_by || session_->failure()) return std::nullopt;
    session_->mark_peer_failed();
    return after_failure({session_->timeout_error(), true}, now);
  }
  if (!is_searching_) {
    if (std::exchange(has_connected_, true)) read_credentials();
    route_->begin(now, give_up);
    is_searching_ = true;
  }
  auto found = route_->step(set, now);
  if (!found) return std::nullopt;
  is_searching_ = false;
  if (auto* failure = std::get_if<Failure>(&*found)) return std::move(*failure);
  const NextServer& next = std::get<NextServer>(*found);
  if (auto refused = check_replicas(next)) return refused;
  connect_to(next, now);
  return std::nullopt;
}

void RedisStore::connect_to(const NextServer& next, TimePoint now) {
  next_ = next;
  last_answer_ = {};
  unneeded_waits_ = 0;
  config_.login.is_strict = is_strict_start();
  config_.login.where = next.host.where();
  const std::string& name = config_.tls_server_name;
  config_.login.tls_peer =
      TlsPeer{next.host.where(), name.empty() ? next.host.name() : name, kNameHint};
  discovery_ = std::make_unique<Resolver>(next.host.host, next.host.port, config_.resolver);
  session_ = std::make_unique<RedisSession>(*discovery_, failed_, tls_ ? &*tls_ : nullptr,
                                            config_.login, now);
  session_->step(PollSet{}, now);  // the first step has no descriptor to wait for
}

std::optional<Failure> RedisStore::after_failure(Failure failure, TimePoint now) {
  session_.reset();
  const std::optional<Retry> retry = route_->after_failure(failure);
  if (!retry) return failure;
  last_error_ = failure.error;
  prepare_resend();
  set_retry(*retry, now);
  return std::nullopt;
}

bool RedisStore::after_error(std::string_view text, TimePoint now) {
  const std::optional<Retry> retry = route_->after_error(text);
  if (!retry) return false;
  last_error_ = refusal_error(text);
  // Not executed: only an earlier connection can have executed it.
  if (pending_) pending_->sent_at.reset();
  prepare_resend();
  if (retry->reconnect) session_.reset();
  set_retry(*retry, now);
  return true;
}

// A redirection is no error of the configuration here.
Error RedisStore::refusal_error(std::string_view text) const {
  const RedisErrorRow& row = classify_redis_error(text);
  if (row.kind == RedisErrorClass::moved || row.kind == RedisErrorClass::ask)
    return {Code::unreachable,
            "redis at " + config_.login.where + ": the node redirects the request (" +
                quotable(text) + "), and no node accepted it",
            "see CLUSTER NODES on the nodes"};
  return redis_error(row, config_.login.where, quotable(text));
}

void RedisStore::prepare_resend() {
  if (!pending_) return;
  if (pending_->sent_at) pending_->is_uncertain = true;
  pending_->sent_at.reset();
  pending_->unacknowledged.reset();
  pending_->by = ScriptBy::hash;
}

void RedisStore::set_retry(const Retry& retry, TimePoint now) { retry_at_ = now + retry.pause; }

// At the deadline: what the last attempt waited for, or why it was not the first one.
Error RedisStore::no_server_error() const {
  if (session_ != nullptr && session_->is_ready() && !retry_at_) return session_->timeout_error();
  if (last_error_) return *last_error_;
  return session_ != nullptr ? session_->timeout_error() : route_->timeout_error();
}

void RedisStore::start_routed_call() {
  drop_closed_session();
  start_routed_request();
  failure_.reset();
  refusal_.clear();
}

bool RedisStore::is_retried(TimePoint now) {
  const std::string refusal = std::exchange(refusal_, {});
  const std::optional<Failure> failure = std::exchange(failure_, std::nullopt);
  if (!refusal.empty()) return after_error(refusal, now);
  return failure && !after_failure(*failure, now);
}

Status RedisStore::open_routed(TimePoint give_up) {
  PollSet set;
  for (;;) {
    const TimePoint now = boot_now();
    if (session_ != nullptr) session_->step(set, now);
    if (session_ != nullptr && session_->failure())
      if (const auto failed = after_failure(*session_->failure(), now)) return failed->error;
    if (const auto failed = approach(set, now, give_up)) return failed->error;
    if (session_ != nullptr && session_->is_ready() && !retry_at_) return Done{};
    if (now >= give_up) {
      const Error error = no_server_error();
      session_.reset();
      return error;
    }
    set = PollSet{};
    if (session_ != nullptr) session_->watch(set);
    watch_route(set);
    set.wake_by(give_up);
    wait_for_events(set);
  }
}

std::string RedisStore::server() const {
  return config_.login.role == ServerRole::master && server_ ? server_->where() : "";
}

}  // namespace cronlatch::redis
