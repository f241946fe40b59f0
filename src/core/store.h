// SPDX-License-Identifier: Apache-2.0
// Store: where a lock lives. It reports facts (granted, busy, kept, not ours, down) and never
// decides what they mean: that is Run's work (core/run.h). This header is the contract;
// tests/contract holds every backend to it.
//
// Verbs are asked one at a time per Store; the reply comes from step(). Nothing here blocks,
// nothing throws, one thread. Each verb is idempotent for the same (owner, attempt): after an
// unknown result the same question may be asked again. A request that the store executes after
// `give_up` changes nothing (reply Stale, or no reply at all).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch {

using Fence = std::uint64_t;  // rises with every grant of a lock; below 2^53 until the year 2255

// Which run of which process asks. `owner` is 128 random bits in hex: it authorises renew and
// release, so it is never shown to the command, never logged. `attempt` counts the grants one run
// asked for.
struct Claim {
  std::string owner;
  std::uint32_t attempt = 1;
  bool operator==(const Claim&) const = default;
};

// How a busy answer is to be counted (in the same step that decides it).
enum class IfBusy {
  wait,       // count nothing: we will ask again
  skip,       // skipped{held} and runs{skipped}
  fail,       // runs{busy}
  timed_out,  // wait_timeouts and runs{busy}: the last question of a wait
};

// Who the run is, for people and for counters: stored with the grant, decides nothing but what is
// said below.
struct Identity {
  std::string holder{};  // shown by ls
  std::string job{};     // whose counters move; may be empty
  std::string group{};   // attempt group: ignores its own min-hold, is told when it was granted
                         // before; may be empty
  std::string once{};    // run identity, done once; may be empty
  bool operator==(const Identity&) const = default;
};

struct Acquire {
  std::string lock;
  Claim claim;
  Identity identity;
  Millis ttl{};
  Millis once_ttl{};
  IfBusy if_busy = IfBusy::skip;
  Millis waited{};    // so far, for the wait histogram; recorded when granted after an IfBusy::wait
  Millis min_hold{};  // recorded with the grant: a holder that crashes keeps the lock closed, too
  unsigned slots =
      1;  // how many may hold at once; every store refuses more than 1 today (a later issue)
  TimePoint give_up{};
};

struct Renew {
  std::string lock;
  Claim claim;
  Identity identity;  // used when the store has lost the record and re-creates it (invariant N3)
  Fence fence = 0;
  Millis ttl{};
  TimePoint give_up{};  // at most the lease's own end
};

// How the run ended, counted with the release. Values of cronlatch_runs_total{outcome} and
// lock_lost/ungated.
enum class RunVerdict {
  succeeded,  // exit 0
  failed,     // the command's own failure
  timed_out,  // max-run
  lost,  // we stopped the command because of the lease; counted lost even when the record is not
         // ours any more
  cannot_start,  // granted, but the command could not be executed
  given_back,    // granted, never started (signal, or the grant came too late): no run is counted
  ungated,       // ran without a lock because the store was down; counted whoever owns the record
};

struct Release {
  std::string lock;
  Claim claim;
  Identity identity;
  Fence fence = 0;  // 0 when the grant is unknown
  RunVerdict verdict = RunVerdict::given_back;
  bool overlong = false;  // ran past warn-after
  // The command exited with 0 by itself: `who.once` is finished. The mark is a fact about the work,
  // not about the lease: Freed and NotHolder both mean that it is written.
  bool mark_done = false;
  Millis held{};  // for the hold histogram
  Millis min_hold{};
  Millis once_ttl{};
  TimePoint give_up{};
};

using Request = std::variant<Acquire, Renew, Release>;

// ---- replies ----

struct Granted {
  Fence fence = 0;
  TimePoint sent_at{};  // read before the request was sent: the lease is dated from here
  bool leased = true;   // false: held until closed, nothing to renew (file store)
  bool stole = false;   // the predecessor's lease had expired unreleased
  bool operator==(const Granted&) const = default;
};

enum class BusyReason {
  held,     // somebody holds it
  cooling,  // released, but min-hold has not passed
  done,     // `once` is finished already
};

struct Busy {
  BusyReason reason = BusyReason::held;
  std::string holder{};
  std::string job{};
  Fence fence = 0;
  Micros held_for{};  // since it was acquired, by the store's clock (zero when unknown)
  Micros
      remaining{};  // until it could be granted, if nobody renews; zero when the store has no lease
  bool group_granted = false;  // our attempt group was granted before: skipping would be a lie
  bool operator==(const Busy&) const = default;
};

struct Renewed {
  TimePoint sent_at{};    // the lease now counts from here
  bool restored = false;  // the store had lost the record; it was re-created for us
  bool operator==(const Renewed&) const = default;
};

enum class LostReason { expired, taken, revoked, gone };

struct NotHolder {  // final
  LostReason reason = LostReason::taken;
  bool operator==(const NotHolder&) const = default;
};

struct Released {
  bool operator==(const Released&) const = default;
};

struct TooLate {  // nothing was changed
  bool closed =
      false;  // true: this attempt has been answered for good; a new grant needs a new attempt
              // number. false: it only came too late by the store's clock; ask again
  bool operator==(const TooLate&) const = default;
};

struct Unavailable {  // no answer, or an error in place of one; the request may or may not have
                      // been
                      // executed
  Error error;
  bool transient = true;  // asking again may help; false: nothing will change without a person
  bool unsent = false;    // certainly not executed
  bool operator==(const Unavailable&) const = default;
};

using Reply = std::variant<Granted, Busy, Renewed, NotHolder, Released, TooLate, Unavailable>;

// What the caller's ppoll must wait for. `events` and `ready` are those of poll(2).
struct PollSet {
  struct Watched {
    int fd;
    short events;
    short ready = 0;
  };
  std::vector<Watched> fds;
  std::optional<TimePoint> deadline;
  void add(int fd, short events) { fds.push_back({fd, events}); }
  short ready(int fd) const {
    for (const Watched& w : fds)
      if (w.fd == fd) return w.ready;
    return 0;
  }
  void wake_by(TimePoint t) {
    if (!deadline || t < *deadline) deadline = t;
  }
};

class Store {
 public:
  virtual ~Store() = default;
  // Starts a request; none other may be in flight. Never blocks on the network.
  virtual void send(const Request& request, TimePoint now) = 0;
  // Adds the descriptors and the deadline this store waits for (also between requests).
  virtual void watch(PollSet& set) const = 0;
  // Moves on after ppoll: `set` holds what watch() added, with `ready` filled in. Call it also when
  // the deadline has come and once right after ask(). Returns the reply once.
  virtual std::optional<Reply> step(const PollSet& set, TimePoint now) = 0;
  // A descriptor every process of the command must inherit (the file store's kernel lock), or -1.
  virtual int inherited_fd() const { return -1; }
  // True when two programs that name the same lock on different hosts meet in this store; false for
  // the file store.
  virtual bool shared() const { return true; }
};

}  // namespace cronlatch
