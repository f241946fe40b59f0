// SPDX-License-Identifier: Apache-2.0
// Election: which replica leads, by a Lease and Kubernetes' rules. Another's lease counts as passed
// when it did not change for its whole length by our own clock; no clock is ever compared with
// another machine's. It does not fence: whoever acts as the leader must be able to act twice.
//
// The leader also keeps one note in the Lease, written together with a renewal: the note that was
// saved survives it, and only one leader at a time can have written it.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "kube/api.h"
#include "kube/watch_timing.h"

namespace cronlatch::kube {

struct ElectionRules {
  Millis lease{15'000};  // how long followers wait for a leader that is silent
  Millis renew{10'000};  // a leader that could not renew for so long is none any more
  Millis retry{2'000};
};

class Election {
 public:
  struct Place {
    std::string namespace_name, name;
    std::string note_annotation;
  };
  Election(Api& api, WatchTiming timing, Place place, std::string identity,
           ElectionRules rules = {});

  // ---- one thread ----
  // One attempt to get or to keep the Lease; returns how long to wait before the next.
  Millis step();
  // Gives the Lease away. Only when nothing that a leader does is going on any more.
  void release();

  // ---- any thread ----
  // False as soon as a renewal is overdue, whatever hangs.
  bool leading() const;
  // Counts how often we began to lead: another number is another term.
  unsigned term() const;
  std::string holder() const;  // as last seen
  // The note as it stands in the Lease.
  std::string saved_note() const;
  // To be written with the next renewal. Forgotten when the leadership is.
  void write_note(std::string note);

 private:
  struct Seen {
    Json lease;
    TimePoint since;
  };
  Result<Response> read(Millis deadline);
  Result<Response> write(Method method, Json lease, Millis deadline);
  Json claimed(const Json& lease, bool ours) const;
  void observe(const Json& lease);
  void lead(const Json& lease, TimePoint asked);
  void follow();
  bool passed(const Seen& seen) const;
  Millis patience() const;
  Millis soon() const;

  Api& api_;
  const WatchTiming timing_;
  const Place place_;
  const std::string identity_;
  const ElectionRules rules_;
  std::optional<Seen> seen_;

  mutable std::mutex mutex_;
  std::optional<TimePoint> leads_until_;
  unsigned term_ = 0;
  std::string saved_note_;
  std::optional<std::string> new_note_;
  std::string holder_;
};

}  // namespace cronlatch::kube
