// SPDX-License-Identifier: Apache-2.0
// The Store interface: send, watch, step. redis_answer.cc turns answers and failures of the session
// into replies.
#include "store/redis/redis_store.h"

#include <utility>

#include "base/kernel_clock.h"
#include "core/shared_key.h"
#include "store/kept_credentials.h"
#include "store/redis/script_codec.h"
#include "store/redis/wait.h"

namespace cronlatch::redis {
namespace {

TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& verb) { return verb.give_up; }, request);
}

// The other program knows one holder only.
std::optional<Unavailable> refuse_request(const Request& request) {
  const auto* acquire = std::get_if<Acquire>(&request);
  if (acquire != nullptr && acquire->slots != 1 && shared_key_of_lock(acquire->lock))
    return Unavailable{{Code::config,
                        "slots is " + std::to_string(acquire->slots) +
                            ", and a lock with key-format has one holder only",
                        "set slots to 1, or replace key-format and foreign-key by lock"},
                       false,
                       true};
  return std::nullopt;
}

}  // namespace

RedisStore::RedisStore(RedisConfig config, std::unique_ptr<Route> route)
    : config_(std::move(config)),
      discovery_(std::make_unique<Resolver>(config_.host, config_.port, config_.resolver)),
      route_(std::move(route)) {
  if (config_.tls) tls_.emplace(*config_.tls);
}

RedisStore::~RedisStore() = default;

void RedisStore::send(const Request& request, TimePoint) {
  pending_ = Pending{request, give_up_of(request)};
  drop_closed_session();
  stop_listening();
  start_routed_request();
}

// The server may have closed the idle connection. The next request would fail as in an outage, so
// this is checked first.
void RedisStore::drop_closed_session() {
  // Twice: the answer of the index entry can precede the end of the stream.
  for (int reads = 0; reads < 2 && session_ != nullptr; ++reads) {
    PollSet set;
    session_->watch(set);
    set.wake_by(boot_now());
    wait_for_events(set);
    session_->step(set, boot_now());
    if (session_->failure()) session_.reset();
  }
}

void RedisStore::watch(PollSet& set) const {
  if (session_ != nullptr) session_->watch(set);
  if (route_ != nullptr && pending_) watch_route(set);
  if (pending_) set.wake_by(pending_->give_up);
}

void RedisStore::connect(TimePoint now) {
  if (std::exchange(has_connected_, true)) read_credentials();
  last_answer_ = {};
  unneeded_waits_ = 0;
  config_.login.is_strict = is_strict_start();
  session_ = std::make_unique<RedisSession>(*discovery_, failed_, tls_ ? &*tls_ : nullptr,
                                            config_.login, now);
}

void RedisStore::read_credentials() {
  if (!config_.credentials_now) return;
  warn_of_kept_credentials(apply_credentials(config_.credentials_now()), last_warning_,
                           config_.warn);
}

Status RedisStore::apply_credentials(const Result<StoreCredentials>& now) {
  if (!now) return now.error();
  config_.login.user = now->username;
  config_.login.password = now->password;
  if (route_ != nullptr) route_->set_credentials(*now);
  return tls_ ? tls_->refresh(*now) : Status(Done{});
}

std::optional<Reply> RedisStore::step(const PollSet& set, TimePoint now) {
  if (pending_ && !pending_->sent_at)
    if (auto refused = refuse_request(pending_->request)) {
      pending_.reset();
      return *refused;
    }
  if (route_ != nullptr && pending_ && now < pending_->give_up) {
    if (const auto failed = approach(set, now, pending_->give_up))
      return unavailable(failed->error, failed->transient);
  } else if (pending_ && session_ == nullptr && now < pending_->give_up) {
    connect(now);
  }
  if (session_ != nullptr) {
    session_->step(set, now);
    take_wake_answer();
    if (pending_ && !pending_->sent_at && !retry_at_ && session_->is_ready() &&
        now < pending_->give_up)
      send_request(now);
    if (auto reply = take_answers(now)) return reply;
    if (session_ != nullptr && session_->failure()) {
      std::optional<Failure> failure = *session_->failure();
      if (route_ != nullptr && pending_)
        failure = after_failure(*failure, now);
      else
        session_.reset();
      if (failure && pending_) return unavailable(failure->error, failure->transient);
    }
  }
  if (pending_ && now >= pending_->give_up) return timed_out();
  return std::nullopt;
}

void RedisStore::send_request(TimePoint now) {
  const ServerTime not_after = session_->server_time(pending_->give_up);
  pending_->sent_at = now;
  if (next_ && next_->asking) session_->send({"ASKING"}, RedisSession::OnAnswer::discard);
  session_->send(
      encode(pending_->request, config_.key_prefix, not_after, pending_->by, strict_request()),
      RedisSession::OnAnswer::keep);
  send_wait(now);
  session_->flush();
  if (config_.strict) warn_of_hidden_policy();
}

}  // namespace cronlatch::redis
