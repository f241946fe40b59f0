// SPDX-License-Identifier: Apache-2.0
// The Store interface of a quorum: the phases of a request, renewals and releases.
#include "store/quorum/quorum_store.h"

#include <algorithm>
#include <utility>

#include "store/rules.h"

namespace cronlatch::quorum {
namespace {

// How long a decision waits for the other servers: longer than an answer takes in one network.
// After a majority: a server that is late can lack the grant, or keep the lease until it ends.
// Without one: the error must not depend on the order of the answers.
constexpr Millis kGrace{200};

TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& verb) { return verb.give_up; }, request);
}

Unavailable not_requested() {
  return {{Code::unreachable, "the server was not requested"}, true, true};
}

}  // namespace

QuorumStore::QuorumStore(std::vector<Voter> servers, Millis min_uptime)
    : voters_(std::move(servers)), min_uptime_(min_uptime) {
  requested_.resize(voters_.size());
}

void QuorumStore::send(const Request& request, TimePoint now) {
  request_ = request;
  reply_.reset();
  give_up_ = give_up_of(request);
  sent_at_ = now;
  if (auto refused = rules::refuse_slots(request, "a quorum of servers")) return finish(*refused);
  if (const Acquire* acquire = std::get_if<Acquire>(&request)) return start_acquire(*acquire, now);
  had_confirmed_.clear();
  for (const Voter& voter : voters_) had_confirmed_.push_back(voter.has_confirmed());
  settled_at_.reset();
  phase_ = std::holds_alternative<Renew>(request) ? Phase::renewing : Phase::releasing;
  Request copy = request;
  std::visit([this](auto& verb) { verb.claim = server_claim(verb.claim); }, copy);
  send_to_all(copy, now);
}

void QuorumStore::watch(PollSet& set) const {
  for (const Voter& voter : voters_) voter.watch(set);
  if (!request_) return;
  set.wake_by(give_up_);
  if (reply_) set.wake_by(sent_at_);
  if (pause_ends_) set.wake_by(*pause_ends_);
  if (settled_at_) set.wake_by(*settled_at_ + kGrace);
}

std::optional<Reply> QuorumStore::step(const PollSet& set, TimePoint now) {
  for (Voter& voter : voters_) voter.step(set, now);
  if (!request_) return std::nullopt;
  advance(now);
  if (!reply_ && now >= give_up_) on_deadline();
  if (!reply_) return std::nullopt;
  request_.reset();
  pause_ends_.reset();
  settled_at_.reset();
  decision_.reset();
  phase_ = Phase::idle;
  return std::exchange(reply_, std::nullopt);
}

// A phase can end at once, when its replies were received with the previous ones.
void QuorumStore::advance(TimePoint now) {
  for (Phase before = Phase::idle; !reply_ && before != phase_;) {
    before = phase_;
    switch (phase_) {
      case Phase::idle:
        break;
      case Phase::acquiring:
        finish_round(now);
        break;
      case Phase::confirming:
        finish_confirmation(now);
        break;
      case Phase::returning:
        finish_return(now);
        break;
      case Phase::counting:
        if (have_all_answered()) give_back(now);
        break;
      case Phase::pausing:
        if (now >= *pause_ends_) start_round(now);
        break;
      case Phase::renewing:
        finish_renewal(now);
        break;
      case Phase::releasing:
        finish_release(now);
        break;
    }
  }
}

void QuorumStore::finish_renewal(TimePoint now) {
  const Replies all = replies();
  switch (judge_renew(all)) {
    case Verdict::pending:
      return;
    case Verdict::yes: {
      // A server that was not part of the grant has lost nothing: the renewal adds it.
      bool is_lost = false;
      std::size_t restored = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Renewed* renewed = all[i] ? std::get_if<Renewed>(&*all[i]) : nullptr;
        if (renewed == nullptr || !renewed->restored) continue;
        ++restored;
        is_lost = is_lost || had_confirmed_[i];
      }
      return finish(Renewed{sent_at_, is_lost || restored >= majority_of(all.size())});
    }
    case Verdict::no:
      return finish(NotHolder{loss_of(all)});
    case Verdict::unavailable:
      if (is_settled(now)) finish(unavailable_of(all));
      return;
  }
}

void QuorumStore::finish_release(TimePoint now) {
  const Replies all = replies();
  const Verdict verdict = judge_release(all);
  // Without a majority, too, the other servers get their time: a release that was not sent yet
  // would leave the lease there until it ends.
  if (verdict == Verdict::pending || !is_settled(now)) return;
  if (verdict == Verdict::unavailable) return finish(unavailable_of(all));
  if (count_of<Released>(all) > 0) return finish(Released{});
  finish(NotHolder{loss_of(all)});
}

void QuorumStore::on_deadline() {
  if (decision_ && phase_ != Phase::acquiring) return finish(*decision_);
  Unavailable failure = unavailable_of(replies());
  failure.unsent = false;
  finish(std::move(failure));
}

void QuorumStore::finish(Reply reply) { reply_ = std::move(reply); }

void QuorumStore::send_to(std::size_t server, const Request& request, TimePoint now) {
  requested_[server] = true;
  voters_[server].send(request, now);
}

void QuorumStore::send_to_all(const Request& request, TimePoint now) {
  for (std::size_t i = 0; i < voters_.size(); ++i) send_to(i, request, now);
}

bool QuorumStore::have_all_answered() const {
  for (std::size_t i = 0; i < voters_.size(); ++i)
    if (requested_[i] && !voters_[i].reply()) return false;
  return true;
}

bool QuorumStore::is_settled(TimePoint now) {
  if (!settled_at_) settled_at_ = now;
  if (!have_all_answered() && now < *settled_at_ + kGrace) return false;
  settled_at_.reset();
  return true;
}

Replies QuorumStore::replies() const {
  Replies all;
  for (std::size_t i = 0; i < voters_.size(); ++i)
    all.push_back(requested_[i] ? voters_[i].reply() : Reply(not_requested()));
  return all;
}

Claim QuorumStore::server_claim(const Claim& claim) const {
  const std::uint32_t round = claim == claim_ ? round_ : 0;
  return {claim.owner, claim.attempt * kRounds + round};
}

// xorshift64*, https://doi.org/10.18637/jss.v008.i14: only the pauses depend on it.
double QuorumStore::random_unit() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return static_cast<double>((random_ * 0x2545F4914F6CDD1DULL) >> 11) * 0x1.0p-53;
}

}  // namespace cronlatch::quorum
