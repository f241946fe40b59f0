// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/link.h"

#include <utility>

#include "base/host_port.h"
#include "base/kernel_clock.h"
#include "store/kept_credentials.h"
#include "store/redis/wait.h"

namespace cronlatch::postgres {
namespace {

std::string certificate_name(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  return host;
}

}  // namespace

Link::Link(LinkConfig config, Purpose purpose) : config_(std::move(config)), purpose_(purpose) {
  login_.user = config_.user;
  login_.database = config_.target.database;
  login_.password = config_.password;
  login_.is_verified = config_.is_verified;
  for (const PostgresTarget::Host& host : config_.target.hosts) {
    Host added{show_host_port(host.host, host.port), nullptr,
               std::make_unique<redis::Resolver>(host.host, host.port, redis::ResolverSettings{})};
    if (config_.target.sslmode != SslMode::disable) {
      redis::TlsSettings tls = config_.tls;
      tls.where = added.where;
      if (tls.name.empty()) tls.name = certificate_name(host.host);
      added.tls = std::make_unique<redis::TlsContext>(std::move(tls));
    }
    hosts_.push_back(std::move(added));
  }
}

void Link::prepare() {
  tried_ = 0;
  why_.reset();
  if (session_ == nullptr) return;
  // The server may have closed the idle connection. The next request would fail as in an outage.
  PollSet set;
  session_->watch(set);
  set.wake_by(boot_now());
  redis::wait_for_events(set);
  session_->step(set, boot_now());
  if (session_->failure()) session_.reset();
}

void Link::watch(PollSet& set) const {
  if (session_ == nullptr) return;
  session_->watch(set);
  if (share_ends_) set.wake_by(*share_ends_);
}

void Link::connect(TimePoint now, TimePoint give_up) {
  if (std::exchange(has_connected_, true)) read_credentials();
  const auto left = static_cast<int>(hosts_.size() - tried_);
  share_ends_ = now + (give_up - now) / left;
  Host& host = hosts_[current_];
  login_.where = host.where;
  session_ = std::make_unique<PostgresSession>(*host.discovery, host.failed, host.tls.get(), login_,
                                               purpose_, now);
}

void Link::read_credentials() {
  if (!config_.credentials_now) return;
  warn_of_kept_credentials(apply_credentials(config_.credentials_now()), last_warning_,
                           config_.warn);
}

Status Link::apply_credentials(const Result<StoreCredentials>& now) {
  if (!now) return now.error();
  login_.user = now->username;
  login_.password = now->password;
  for (Host& host : hosts_)
    if (host.tls != nullptr)
      if (Status refreshed = host.tls->refresh(*now); !refreshed) return refreshed;
  return Done{};
}

std::optional<redis::Failure> Link::step(const PollSet& set, TimePoint now, TimePoint give_up) {
  if (session_ == nullptr) {
    if (tried_ >= hosts_.size() || now >= give_up) return std::nullopt;
    connect(now, give_up);
  }
  const bool was_ready = session_->is_ready();
  session_->step(set, now);
  while (auto failure = failure_of_session(now)) {
    session_.reset();
    if (was_ready) return failure;
    if (!why_ || why_->transient) why_ = std::move(failure);
    current_ = (current_ + 1) % hosts_.size();
    if (++tried_ == hosts_.size()) return std::exchange(why_, std::nullopt);
    connect(now, give_up);
    session_->step(PollSet{}, now);
  }
  if (session_->is_ready()) share_ends_.reset();
  return std::nullopt;
}

// Also when a host that is not the last one has used its share of the time.
std::optional<redis::Failure> Link::failure_of_session(TimePoint now) {
  if (session_->failure()) return session_->failure();
  if (session_->is_ready() || !share_ends_ || now < *share_ends_ || tried_ + 1 >= hosts_.size())
    return std::nullopt;
  session_->mark_peer_failed();
  return redis::Failure{session_->timeout_error(), true};
}

void Link::drop(bool is_at_fault) {
  if (is_at_fault) {
    if (session_ != nullptr) session_->mark_peer_failed();
    current_ = (current_ + 1) % hosts_.size();
  }
  session_.reset();
}

Error Link::time_out() {
  if (why_ && session_ == nullptr) return why_->error;
  Error error = session_ != nullptr
                    ? session_->timeout_error()
                    : Error{Code::unreachable, "postgres at " + hosts_[current_].where +
                                                   ": the server did not answer in time"};
  drop(true);
  return error;
}

Status Link::wait(TimePoint give_up) {
  PollSet set;
  watch(set);
  set.wake_by(session_ == nullptr ? boot_now() : give_up);
  redis::wait_for_events(set);
  const TimePoint now = boot_now();
  if (auto failure = step(set, now, give_up)) return failure->error;
  if (now >= give_up) return time_out();
  return Done{};
}

Result<std::vector<QueryResult>> Link::execute(const std::function<std::string()>& messages,
                                               std::size_t answers, TimePoint give_up) {
  prepare();
  while (!is_ready())
    if (Status waited = wait(give_up); !waited) return waited.error();
  session_->send(messages(), answers);
  for (;;) {
    if (auto taken = session_->take()) return std::move(*taken);
    if (Status waited = wait(give_up); !waited) return waited.error();
    if (session_ == nullptr) return time_out();
  }
}

}  // namespace cronlatch::postgres
