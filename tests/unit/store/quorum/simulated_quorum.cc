// SPDX-License-Identifier: Apache-2.0
#include "simulated_quorum.h"

#include <variant>

namespace cronlatch::quorum::testing {
namespace {

// Clocks of the servers differ by at most this; every rate is exact.
constexpr int kMaxOffsetMs = 3'000;

TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& verb) { return verb.give_up; }, request);
}

bool is_held(const rules::Record& record, ServerTime now) {
  return (record.state == rules::HoldState::held || record.state == rules::HoldState::revoked) &&
         now < record.expires;
}

}  // namespace

SimulatedWorld::SimulatedWorld(unsigned seed, std::size_t servers, Defect defect)
    : random_(seed), defect_(defect), servers_(servers) {
  for (std::size_t i = 0; i < servers; ++i) {
    servers_[i].offset = Millis(static_cast<int>(below(kMaxOffsetMs)));
    servers_[i].memory = std::make_unique<MemoryServer>([this, i] { return server_time(i, now_); });
  }
}

ServerTime SimulatedWorld::server_time(std::size_t server, TimePoint t) const {
  return ServerTime{1'800'000'000'000'000} + t.time_since_epoch() + servers_[server].offset;
}

bool SimulatedWorld::run_next(TimePoint end) {
  const auto next = events_.begin();
  if (next == events_.end() || next->first > end) return false;
  now_ = std::max(now_, next->first);
  const auto event = std::move(next->second);
  events_.erase(next);
  event();
  return true;
}

Reply SimulatedWorld::execute(std::size_t server, const Request& request, TimePoint give_up) {
  Server& target = servers_[server];
  Request executed = request;
  const std::string lock = std::visit([](const auto& verb) { return verb.lock; }, request);
  const rules::Record record = target.memory->record(lock);
  const Acquire* acquire = std::get_if<Acquire>(&request);
  if (acquire != nullptr)
    if (now_ < target.started + acquire->min_uptime && defect_ != Defect::counts_restarted_server &&
        (record.state == rules::HoldState::none ||
         record.born >= server_time(server, target.started)) &&
        !is_held(record, server_time(server, now_)))
      return Unavailable{{Code::unreachable, "started recently"}, true, true};
  Renew* renew = std::get_if<Renew>(&executed);
  if (defect_ == Defect::fence_is_not_raised && renew != nullptr && record.claim == renew->claim)
    renew->fence = record.fence;
  MemoryServer::Records before = target.memory->records();
  Reply reply = target.memory->execute(executed, server_time(server, give_up));
  if (acquire == nullptr) {
    target.unconfirmed.reset();
  } else if (std::holds_alternative<Granted>(reply) && record.claim != acquire->claim) {
    lose_grant_sometimes(server, acquire->claim, std::move(before));
  }
  // Of all renewals, only a confirmation leaves the lease as it is.
  if (defect_ == Defect::confirms_lost_grant && renew != nullptr && renew->ttl == Millis(0) &&
      std::holds_alternative<NotHolder>(reply))
    return Renewed{};
  return reply;
}

void SimulatedWorld::lose_grant_sometimes(std::size_t server, const Claim& claim,
                                          MemoryServer::Records before) {
  servers_[server].unconfirmed = claim;
  if (!one_in(5)) return;
  at(now_ + Millis(below(100)), [this, server, claim, before = std::move(before)] {
    Server& target = servers_[server];
    if (target.unconfirmed != claim) return;
    target.memory->restore(before);
    target.started = now_;
  });
}

void SimulatedWorld::lose_data(std::size_t server) {
  servers_[server].memory->forget();
  servers_[server].started = now_;
  servers_[server].unconfirmed.reset();
}

void SimulatedConnection::send(const Request& request, TimePoint now) {
  exchange_ = std::make_shared<Exchange>();
  give_up_ = give_up_of(request);
  const auto delay = [this] {
    // Most messages are fast; some take longer than the client waits.
    return world_.one_in(12) ? Millis(world_.below(4'000)) : Millis(1 + world_.below(20));
  };
  if (world_.one_in(25)) return;  // lost
  const bool is_reply_lost = world_.one_in(25);
  world_.at(now + delay(), [this_world = &world_, server = server_, exchange = exchange_, request,
                            give_up = give_up_, is_reply_lost, back = delay()] {
    Reply reply = this_world->execute(server, request, give_up);
    if (is_reply_lost) return;
    this_world->at(this_world->now() + back, [exchange, reply] { exchange->reply = reply; });
  });
}

void SimulatedConnection::watch(PollSet& set) const {
  if (exchange_ != nullptr) set.wake_by(give_up_);
}

std::optional<Reply> SimulatedConnection::step(const PollSet&, TimePoint now) {
  if (exchange_ == nullptr) return std::nullopt;
  std::optional<Reply> reply = exchange_->reply;
  if (!reply && now >= give_up_) reply = Unavailable{{Code::unreachable, "no answer"}, true, false};
  if (reply) exchange_.reset();
  return reply;
}

}  // namespace cronlatch::quorum::testing
