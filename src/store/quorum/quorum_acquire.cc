// SPDX-License-Identifier: Apache-2.0
// Acquire on a quorum, in rounds: request, confirm the fence; or give back, pause, and repeat.
#include <algorithm>
#include <functional>
#include <utility>

#include "store/quorum/quorum_store.h"

namespace cronlatch::quorum {
namespace {

// Longer than a round in one network: the run with most servers is the first to repeat its round.
constexpr Millis kLeaderPause{10};
constexpr Millis kPause{100};
constexpr int kMaxDoublings = 3;

// A run that waits is not refused. L5: neither is a group that was granted before.
bool is_counted_by_servers(IfBusy if_busy, const Busy& busy) {
  if (if_busy == IfBusy::wait) return false;
  return if_busy == IfBusy::timed_out || !busy.group_granted;
}

// A majority has closed the attempt.
bool is_closed(const Replies& replies) {
  const auto closed = std::count(replies.begin(), replies.end(), Reply(TooLate{/*closed=*/true}));
  return static_cast<std::size_t>(closed) >= majority_of(replies.size());
}

bool has_majority_stolen(const Replies& replies) {
  const auto stole = std::count_if(replies.begin(), replies.end(), [](const auto& reply) {
    const Granted* granted = reply ? std::get_if<Granted>(&*reply) : nullptr;
    return granted != nullptr && granted->stole;
  });
  return static_cast<std::size_t>(stole) >= majority_of(replies.size());
}

Error no_majority_error() {
  return {Code::unreachable, "no run had a majority of the quorum's servers within the time limit",
          "try again later; check the clocks of the servers if this continues"};
}

Unavailable same_server_error(const Voter& one, const Voter& other) {
  return {{Code::config,
           one.endpoint() + " and " + other.endpoint() +
               " are the same server, and each server of a quorum has one vote",
           "list independent servers in `store`, each of them once"},
          false,
          false};
}

}  // namespace

void QuorumStore::start_acquire(const Acquire& request, TimePoint now) {
  if (claim_ != request.claim) {
    claim_ = request.claim;
    round_ = 0;
    fence_ = 0;
    random_ = std::hash<std::string>()(claim_.owner) | 1;
  }
  failures_ = 0;
  stole_ = is_counted_ = false;
  decision_.reset();
  // The last quarter is for the count of the refusal and the return of grants.
  rounds_end_ = give_up_ - (give_up_ - now) / 4;
  start_round(now);
}

Acquire QuorumStore::server_request(IfBusy if_busy) const {
  Acquire request = acquire();
  request.claim = server_claim(request.claim);
  request.if_busy = if_busy;
  request.min_uptime = std::chrono::ceil<Seconds>(min_uptime_);
  return request;
}

// A refusal is counted once it is decided, not by each round.
void QuorumStore::start_round(TimePoint now) {
  pause_ends_.reset();
  settled_at_.reset();
  phase_ = Phase::acquiring;
  sent_at_ = now;
  send_to_all(server_request(IfBusy::probe), now);
}

void QuorumStore::finish_round(TimePoint now) {
  const Replies all = replies();
  const Verdict verdict = judge_acquire(all);
  // Without a majority, too, the other servers get their time: their errors decide whether a retry
  // can help.
  if (verdict == Verdict::pending || !is_settled(now)) return;
  if (verdict == Verdict::unavailable)
    return finish(unavailable_of(all));  // the run repeats the claim, or releases it
  if (const auto pair = same_server(all)) {
    decision_ = same_server_error(voters_[pair->first], voters_[pair->second]);
    is_counted_ = true;
    return give_back(now);
  }
  if (verdict == Verdict::yes) return confirm(now);
  const std::optional<Contention> contention = find_contention(all);
  refused_.clear();
  for (const auto& reply : all) refused_.push_back(reply && std::holds_alternative<Busy>(*reply));
  if (is_closed(all)) {
    decision_ = TooLate{/*closed=*/true};
    is_counted_ = true;
    return give_back(now);
  }
  if ((contention && contention->is_decided) || now >= rounds_end_) {
    decision_ = contention ? Reply(contention->busy) : Reply(Unavailable{no_majority_error()});
    is_counted_ = !contention || !is_counted_by_servers(acquire().if_busy, contention->busy);
    return give_back(now);
  }
  if (contention && contention->is_leading) return pause(kLeaderPause, now);
  give_back(now);
}

void QuorumStore::confirm(TimePoint now) {
  const Replies all = replies();
  stole_ = has_majority_stolen(all);
  // A repeated request after an unknown result confirms the same fence, or a higher one.
  fence_ = std::max(fence_, highest_fence(all));
  Renew request{.lock = acquire().lock,
                .claim = server_claim(claim_),
                .identity = acquire().identity,
                .fence = fence_,
                .ttl = Millis(0),  // the lease counts from the grants
                .give_up = give_up_};
  requested_.assign(voters_.size(), false);
  phase_ = Phase::confirming;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Granted* granted = all[i] ? std::get_if<Granted>(&*all[i]) : nullptr;
    if (granted == nullptr) continue;
    send_to(i, request, now);
  }
}

void QuorumStore::finish_confirmation(TimePoint now) {
  Replies all = replies();
  // A record that was restored had been lost: another run may have held the lock in between.
  for (auto& reply : all)
    if (const Renewed* renewed = reply ? std::get_if<Renewed>(&*reply) : nullptr)
      if (renewed->restored)
        reply = Unavailable{{Code::unreachable, "a server lost the grant before it was confirmed"}};
  const Verdict verdict = judge_renew(all);
  if (verdict == Verdict::pending || !is_settled(now)) return;
  if (verdict == Verdict::yes)
    return finish(Granted{.fence = fence_, .sent_at = sent_at_, .stole = stole_});
  Unavailable failure = unavailable_of(all);
  failure.transient = true;
  failure.unsent = false;
  finish(std::move(failure));
}

// Servers that have not answered get the release, too, but are not waited for.
void QuorumStore::give_back(TimePoint now) {
  const Release request{.lock = acquire().lock,
                        .claim = server_claim(claim_),
                        .identity = acquire().identity,
                        .verdict = RunVerdict::given_back,
                        .give_up = give_up_};
  requested_.assign(voters_.size(), false);
  phase_ = Phase::returning;
  for (std::size_t i = 0; i < voters_.size(); ++i) {
    if (!voters_[i].may_hold()) continue;
    const bool is_granted = voters_[i].has_confirmed();
    send_to(i, request, now);
    requested_[i] = is_granted;
  }
}

void QuorumStore::finish_return(TimePoint now) {
  if (!have_all_answered()) return;
  if (decision_ && !is_counted_) return count_refusal(now);
  if (decision_) return finish(*decision_);
  // The claim is closed on the servers that released it.
  if (round_ + 1 == kRounds) return finish(TooLate{/*closed=*/true});
  ++round_;
  pause(kPause * (1 << std::min(failures_++, kMaxDoublings)), now);
}

// A server can have become free: that grant is given back, and the refusal stays the decision.
void QuorumStore::count_refusal(TimePoint now) {
  is_counted_ = true;
  requested_.assign(voters_.size(), false);
  phase_ = Phase::counting;
  for (std::size_t i = 0; i < voters_.size(); ++i)
    if (refused_[i]) send_to(i, server_request(acquire().if_busy), now);
}

void QuorumStore::pause(Millis most, TimePoint now) {
  phase_ = Phase::pausing;
  pause_ends_ = now + std::chrono::duration_cast<Micros>(most * (0.25 + 0.75 * random_unit()));
}

}  // namespace cronlatch::quorum
