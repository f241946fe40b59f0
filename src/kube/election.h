// SPDX-License-Identifier: Apache-2.0
// Election: elects one leader among the replicas with a Lease, by the rules of Kubernetes'
// client-go. The lease of another replica has expired when it did not change for its whole duration
// by the local clock. Clocks of different hosts are never compared. A Lease does not fence: every
// action of a leader must be safe to repeat.
//
// The leader stores one checkpoint in an annotation of the Lease. It is written together with a
// renewal, so only one leader at a time can write it.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "kube/api.h"
#include "kube/watch_timing.h"

namespace cronlatch::kube {

struct ElectionRules {
  Millis lease{15'000};  // after this time without a renewal another replica leads
  Millis renew{10'000};  // after this time without a renewal the leader stops leading
  Millis retry{2'000};
};

class Election {
 public:
  struct LeaseRef {
    std::string namespace_name, name;
    std::string checkpoint_annotation;
  };
  Election(Api& api, WatchTiming timing, LeaseRef lease_ref, std::string identity,
           ElectionRules rules = {});

  // ---- one thread ----
  // One attempt to acquire or renew the Lease. Returns the wait before the next attempt.
  Millis step();
  // Releases the Lease. All work of the leader must have ended before.
  void release();

  // ---- any thread ----
  // False as soon as a renewal is overdue, even while a call blocks.
  bool leading() const;
  // The number of terms of this replica so far.
  unsigned term() const;
  std::string holder() const;  // as of the last read
  // The checkpoint in the Lease.
  std::string saved_checkpoint() const;
  // Written with the next renewal. Discarded when the term ends.
  void set_checkpoint(std::string checkpoint);
  // The last one of set_checkpoint() is not written unless a renewal with it is already in
  // progress.
  void withdraw_checkpoint();

 private:
  struct ObservedLease {
    Json lease;
    TimePoint since;
  };
  Result<Response> read(Millis deadline);
  Result<Response> write(Method method, Json lease, Millis deadline);
  Json claimed_lease(const Json& lease, bool is_own) const;
  void observe(const Json& lease);
  void become_leader(const Json& lease, TimePoint sent_at);
  void stop_leading();
  bool has_expired(const ObservedLease& observed) const;
  Millis attempt_timeout() const;
  Millis retry_delay() const;
  Millis time_to_expiry() const;  // of the observed Lease

  Api& api_;
  const WatchTiming timing_;
  const LeaseRef lease_ref_;
  const std::string identity_;
  const ElectionRules rules_;
  std::optional<ObservedLease> observed_;

  mutable std::mutex mutex_;
  std::optional<TimePoint> leader_until_;
  unsigned term_ = 0;
  std::string saved_checkpoint_;
  std::optional<std::string> new_checkpoint_;
  std::string holder_;
};

}  // namespace cronlatch::kube
