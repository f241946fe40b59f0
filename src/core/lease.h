// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a lease: until when it is valid, when a command gets TERM, when it must be
// dead. docs/guarantees.md gives the derivation; the symbols in brackets are used
// there. All times are CLOCK_BOOTTIME.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

inline constexpr Millis kMinTtl{5'000};
inline constexpr Millis kMaxTtl{3'600'000};

struct Timings {
  Millis ttl{};          // [T] lease length
  Millis renew_every{};  // [P] renew period; each is drawn within +-10 %
  Millis op_timeout{};   // [O] one call to the store
  Millis retry_gap{};    // [R] between failed renewals
  Millis
      margin{};    // [eps] clock rate error 1 % of T, store's wall step 0.5 s, 0.2 s for scheduling
  Millis reap{};   // [kappa] from SIGKILL until everything is reaped; see reap_time
  Millis grace{};  // [G] from TERM to KILL when the lease runs out; at most kill-after

  // How long the store may be unavailable, in the worst case, before a running command gets TERM.
  Millis outage_tolerance() const;
  bool operator==(const Timings&) const = default;
};

// What the user may set; an absent value follows the lease.
struct TimingOptions {
  Millis ttl{};
  std::optional<Millis> renew_every;
  std::optional<Millis> op_timeout;
  Millis kill_after{};
};

// The timings, or Code::config naming the inequality that does not hold and the smallest ttl for
// which it would.
Result<Timings> plan_timings(const TimingOptions& options);

// [eps] The margin of a lease, and of every comparison of its length with the clock of a store.
Millis lease_margin(Millis ttl);

// [kappa] The time in which the kernel ends that many processes and threads, and they are reaped.
Millis reap_time(std::size_t tasks);

// A confirmed lease: valid from `sent_at`, the moment before its request was sent.
struct Lease {
  TimePoint sent_at{};
  TimePoint reaped_by(const Timings& t) const {
    return sent_at + t.ttl - t.margin;
  }  // [D] everything must be reaped
  TimePoint kill_at(const Timings& t) const { return reaped_by(t) - t.reap; }
  TimePoint term_at(const Timings& t) const { return kill_at(t) - t.grace; }
};

}  // namespace cronlatch
