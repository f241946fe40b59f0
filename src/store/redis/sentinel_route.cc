// SPDX-License-Identifier: Apache-2.0
// The search for the master, and the retries after a failover.
#include "store/redis/sentinel_route.h"

#include <algorithm>
#include <numeric>

namespace cronlatch::redis {

SentinelRoute::SentinelRoute(SentinelConfig config, std::optional<TlsSettings> tls)
    : config_(std::move(config)), order_(config_.sentinels.size()) {
  if (tls) tls_.emplace(std::move(*tls));
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

void SentinelRoute::reset() {
  attempts_.clear();
  next_at_.reset();
  retries_ = 0;
}

void SentinelRoute::begin(TimePoint now, TimePoint give_up) {
  attempts_.clear();
  failures_.clear();
  unknown_ = started_ = 0;
  answered_.reset();
  give_up_ = give_up;
  start_next(now);
}

void SentinelRoute::start_next(TimePoint now) {
  next_at_.reset();
  if (started_ == order_.size()) return;
  const std::size_t sentinel = order_[started_++];
  attempts_.push_back(
      {sentinel, std::make_unique<SentinelQuery>(config_, config_.sentinels[sentinel],
                                                 tls_ ? &*tls_ : nullptr, now)});
  if (started_ < order_.size()) next_at_ = now + kSentinelStagger;
}

void SentinelRoute::watch(PollSet& set) const {
  for (const Attempt& attempt : attempts_) attempt.query->watch(set);
  if (next_at_) set.wake_by(*next_at_);
}

std::optional<std::variant<NextServer, Failure>> SentinelRoute::step(const PollSet& set,
                                                                     TimePoint now) {
  // By index: start_next() adds attempts, which get their first step here.
  for (std::size_t i = 0; i < attempts_.size();) {
    const auto answer = attempts_[i].query->step(set, now);
    if (!answer) {
      ++i;
      continue;
    }
    if (const auto* master = std::get_if<NamedMaster>(&*answer))
      return found(*master, attempts_[i].sentinel, now);
    if (const auto* failure = std::get_if<Failure>(&*answer))
      failures_.push_back(*failure);
    else
      ++unknown_;
    attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(i));
    start_next(now);
  }
  if (next_at_ && now >= *next_at_) {
    start_next(now);
    // The first step of a query can fail at once, and then has no descriptor to wait for.
    return step(PollSet{}, now);
  }
  Failure failure = nothing_found();
  // A majority has decided: the other Sentinels cannot change it.
  if (failure.transient && !attempts_.empty()) return std::nullopt;
  attempts_.clear();
  next_at_.reset();
  return failure;
}

// The connection to a master that this Sentinel names wrongly may take its share of the time.
NextServer SentinelRoute::found(const NamedMaster& master, std::size_t sentinel, TimePoint now) {
  attempts_.clear();
  next_at_.reset();
  answered_ = sentinel;
  const std::size_t others = retries_ < order_.size() ? order_.size() - retries_ : 1;
  const Micros share = (give_up_ - now) / static_cast<std::int64_t>(others);
  return {master.host, now + std::max(share, Micros(0)), false, master.replicas};
}

// A majority decides: one Sentinel can be misconfigured, and the others unreachable for a moment.
Failure SentinelRoute::nothing_found() const {
  const std::size_t majority = order_.size() / 2 + 1;
  if (unknown_ >= majority)
    return {{Code::config, "the Sentinels do not know a master named " + config_.master,
             "write the name of `sentinel monitor` after the hosts in store"},
            false};
  const auto is_final = [](const Failure& failure) { return !failure.transient; };
  const auto final_one = std::find_if(failures_.begin(), failures_.end(), is_final);
  const auto finals =
      static_cast<std::size_t>(std::count_if(failures_.begin(), failures_.end(), is_final));
  if (finals + unknown_ >= majority && final_one != failures_.end()) return *final_one;
  Error error{Code::unreachable, "no Sentinel named the master " + config_.master,
              "check that the Sentinels in store run"};
  if (!failures_.empty()) error.message += "; " + failures_.front().error.message;
  if (!failures_.empty() && !failures_.front().error.hint.empty())
    error.hint = failures_.front().error.hint;
  return {std::move(error), true};
}

std::optional<Retry> SentinelRoute::after_failure(const Failure& failure) {
  demote_last();
  // Another Sentinel may name another server, which accepts the certificate or the login.
  const bool has_others = retries_ + 1 < order_.size();
  if (!failure.transient && !has_others) return std::nullopt;
  const std::size_t retry = retries_++;
  return Retry{has_others ? Millis(0) : retry_pause(retry)};
}

std::optional<Retry> SentinelRoute::after_error(std::string_view text) {
  switch (classify_redis_error(text).kind) {
    case RedisErrorClass::readonly:
    case RedisErrorClass::masterdown:
      demote_last();
      return Retry{retry_pause(retries_++)};
    case RedisErrorClass::loading:
      return Retry{retry_pause(retries_++), /*reconnect=*/false};
    case RedisErrorClass::noscript:
    case RedisErrorClass::moved:
    case RedisErrorClass::ask:
    case RedisErrorClass::tryagain:
    case RedisErrorClass::clusterdown:
    case RedisErrorClass::busy:
    case RedisErrorClass::oom:
    case RedisErrorClass::misconf:
    case RedisErrorClass::noreplicas:
    case RedisErrorClass::noauth:
    case RedisErrorClass::wrongpass:
    case RedisErrorClass::noperm:
    case RedisErrorClass::wrongtype:
    case RedisErrorClass::eof:
    case RedisErrorClass::timeout:
    case RedisErrorClass::poisoned:
    case RedisErrorClass::foreign_key:
    case RedisErrorClass::no_command:
    case RedisErrorClass::restarted:
    case RedisErrorClass::unknown_command:
    case RedisErrorClass::replicas:
    case RedisErrorClass::max_clients:
    case RedisErrorClass::protected_mode:
    case RedisErrorClass::unknown:
      return std::nullopt;
  }
  return std::nullopt;
}

void SentinelRoute::demote_last() {
  if (!answered_) return;
  const auto at = std::find(order_.begin(), order_.end(), *answered_);
  std::rotate(at, at + 1, order_.end());
  answered_.reset();
}

Error SentinelRoute::timeout_error() const {
  if (!attempts_.empty()) return attempts_.front().query->timeout_error();
  return nothing_found().error;
}

void SentinelRoute::set_credentials(const StoreCredentials& now) {
  attempts_.clear();  // no stream may exist while certificates are replaced
  config_.user = now.sentinel_username;
  config_.password = now.sentinel_password;
  // A certificate that cannot be used: RedisStore reports it for its own context.
  if (tls_) (void)tls_->refresh(now).ok();
}

}  // namespace cronlatch::redis
