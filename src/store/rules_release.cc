// SPDX-License-Identifier: Apache-2.0
// Release: the holder releases the lock and reports the run's verdict; each is counted once (R1 to
// R5, L0, C1, C2). A run that waits removes its place (Q7).
#include <algorithm>
#include <utility>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

void count_verdict(Record& record, const std::string& job, RunVerdict verdict, ServerTime now) {
  switch (verdict) {
    case RunVerdict::succeeded:
      count(record, job, "runs_succeeded");
      stamp(record, job, "last_success", now);
      return;
    case RunVerdict::failed:
      return count(record, job, "runs_failed");
    case RunVerdict::timed_out:
      return count(record, job, "runs_timed_out");
    case RunVerdict::lost:
      count(record, job, "lost");
      return count(record, job, "runs_lost");
    case RunVerdict::cannot_start:
      return count(record, job, "runs_cannot_start");
    case RunVerdict::given_back:
      return;
    case RunVerdict::ungated:
      return count(record, job, "ungated");
  }
}

// L0: the rest of the min-hold, at most all of it.
Micros remaining_min_hold(const Slot& slot, const Release& request, ServerTime now) {
  if (slot.state != HoldState::held || request.verdict == RunVerdict::given_back) return Micros{0};
  const Micros all = request.min_hold;
  return std::clamp(slot.acquired + all - now, Micros{0}, std::max(all, Micros{0}));
}

// L5: a run that succeeded is not retried, except in a race.
GroupState group_state_after(const Release& request) {
  return request.verdict == RunVerdict::succeeded || request.mark_done ? GroupState::finished
                                                                       : GroupState::open;
}

void close_grant(Record& record, Slot& slot, const Release& request, ServerTime now,
                 ForeignKey* foreign) {
  const std::string job = slot.identity.job;  // of the grant
  remember(record, slot.claim, Answer::released, now, slot.ttl);
  const Micros rest = remaining_min_hold(slot, request, now);
  if (slot.state == HoldState::held)
    count(record, job, "released");  // a revoked grant is counted already
  count_verdict(record, job, request.verdict, now);
  if (request.verdict != RunVerdict::given_back && request.verdict != RunVerdict::ungated)
    count_hold(record, job, request.held);
  if (request.overlong) count(record, job, "long");
  remember_group(record, request.identity.group, group_state_after(request), now);
  release_key(record, foreign, now, rest);
  slot.state = rest > Micros{0} ? HoldState::cooling : HoldState::free;
  slot.expires = rest > Micros{0} ? now + rest : ServerTime{};
  if (rest == Micros{0}) return;
  slot.ttl = rest;  // so that the clamp does not shorten it
  slot.turn.reset();
}

bool has_fence(const Record& record, Fence fence) {
  const ConstSlotList slot_list = slot_list_of(record);
  return std::any_of(slot_list.begin(), slot_list.end(), [fence](const Slot* slot) {
    return slot->state != HoldState::none && slot->fence == fence;
  });
}

// Whether a run that is not the holder reports a verdict: it ran without a lock, it reports a lost
// lease, or it was the holder of another grant than the recorded one.
bool reports_verdict(const Record& record, const Release& request) {
  switch (request.verdict) {
    case RunVerdict::given_back:
      return false;
    case RunVerdict::lost:
    case RunVerdict::ungated:
      return true;
    case RunVerdict::succeeded:
    case RunVerdict::failed:
    case RunVerdict::timed_out:
    case RunVerdict::cannot_start:
      return request.fence != 0 && !has_fence(record, request.fence);
  }
  return false;
}

// There is no record, or it names another holder: counts only what this run alone can report, once.
void count_non_holder(Record& record, const Release& request, ServerTime now) {
  if (reports_verdict(record, request)) {
    if (!answered(record, request.claim, Answer::verdict_counted, now)) {
      count_verdict(record, request.identity.job, request.verdict, now);
      remember(record, request.claim, Answer::verdict_counted, now, record.ttl);
    }
    remember_group(record, request.identity.group, group_state_after(request), now);
  }
  // A delayed acquire of this attempt must not be granted: no run would follow.
  remember(record, request.claim, Answer::closed, now, record.ttl);
}

}  // namespace

Reply decide(Record& record, const Release& request, ServerTime now, ServerTime not_after,
             Waiting waiting, ForeignKey* foreign) {
  const bool in_order = waiting == Waiting::in_order;
  if (now > not_after) return TooLate{false};
  // R4: the work is finished, in every state of the lease.
  if (request.mark_done) mark_done(record, request.identity, request.once_ttl, now);
  Slot* const slot = slot_of(record, request.claim);
  if (slot != nullptr && (slot->state == HoldState::held || slot->state == HoldState::revoked)) {
    close_grant(record, *slot, request, now, foreign);
    if (!in_order || slot->state != HoldState::free) return Released{};
    open_queue(record, request.claim.owner, now);
    std::string wake = hand_over(record, *slot, now);
    reset_if_idle(record);
    return Released{std::move(wake)};
  }
  if (slot != nullptr || answered(record, request.claim, Answer::released, now))
    return Released{};  // R3
  count_non_holder(record, request, now);
  NotHolder reply{loss_reason(record, request.fence)};
  if (!in_order) return reply;
  const Place place = open_queue(record, request.claim.owner, now);
  reply.wake = leave_queue(record, request.claim.owner, place, now);
  return reply;
}

}  // namespace cronlatch::rules
