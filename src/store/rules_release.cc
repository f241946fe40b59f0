// SPDX-License-Identifier: Apache-2.0
// Release: the holder lets go and says how the run ended; each is counted once (R1 to R4, L0, C1,
// C2).
#include <algorithm>

#include "store/rules_parts.h"

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

// L0: what is left of the min-hold, never more than all of it.
Micros rest_of_min_hold(const Record& record, const Release& request, ServerTime now) {
  if (record.seat != Seat::held || request.verdict == RunVerdict::given_back) return Micros{0};
  const Micros all = request.min_hold;
  return std::clamp(record.acquired + all - now, Micros{0}, std::max(all, Micros{0}));
}

// L5: who has succeeded is not started again, but for a race.
GroupIs group_after(const Release& request) {
  return request.verdict == RunVerdict::succeeded || request.mark_done ? GroupIs::finished
                                                                       : GroupIs::open;
}

void close(Record& record, const Release& request, ServerTime now) {
  const std::string job = record.identity.job;  // the one the grant was counted for
  remember(record, record.claim, Answer::released, now, record.ttl);
  const Micros rest = rest_of_min_hold(record, request, now);
  if (record.seat == Seat::held)
    count(record, job, "released");  // a revoked grant is closed already
  count_verdict(record, job, request.verdict, now);
  if (request.verdict != RunVerdict::given_back && request.verdict != RunVerdict::ungated)
    count_hold(record, job, request.held);
  if (request.overlong) count(record, job, "long");
  remember_group(record, request.identity.group, group_after(request), now);
  record.seat = rest > Micros{0} ? Seat::cooling : Seat::free;
  record.expires = rest > Micros{0} ? now + rest : ServerTime{};
  if (rest > Micros{0}) record.ttl = rest;  // so that the clamp cannot cut it
}

// Whether a run that is not the holder has a verdict to report: it ran without a lock, it says that
// it lost its lease, or it was the holder of another grant than the recorded one.
bool ran_outside(const Record& record, const Release& request) {
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
      return request.fence != 0 && (record.seat == Seat::none || request.fence != record.fence);
  }
  return false;
}

// The record is another's, or there is none: only what this run alone can report is counted, once.
void count_outside(Record& record, const Release& request, ServerTime now) {
  if (ran_outside(record, request)) {
    if (!answered(record, request.claim, Answer::verdict_counted, now)) {
      count_verdict(record, request.identity.job, request.verdict, now);
      remember(record, request.claim, Answer::verdict_counted, now, record.ttl);
    }
    remember_group(record, request.identity.group, group_after(request), now);
  }
  // An acquire of this attempt that is still on its way must not be granted without a run.
  remember(record, request.claim, Answer::closed, now, record.ttl);
}

}  // namespace

Reply decide(Record& record, const Release& request, ServerTime now, ServerTime not_after) {
  if (now > not_after) return TooLate{false};
  // R4: a fact about the work, whatever became of the lease.
  if (request.mark_done) mark_done(record, request.identity, request.once_ttl, now);
  const bool ours = record.seat != Seat::none && record.claim == request.claim;
  if (ours && (record.seat == Seat::held || record.seat == Seat::revoked)) {
    close(record, request, now);
    return Released{};
  }
  if (ours || answered(record, request.claim, Answer::released, now)) return Released{};  // R3
  count_outside(record, request, now);
  return NotHolder{why_not_ours(record, request.fence)};
}

}  // namespace cronlatch::rules
