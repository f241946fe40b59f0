// SPDX-License-Identifier: Apache-2.0
// Store: holds the state of locks. It reports facts (granted, busy, renewed, not the holder,
// unavailable); Run (core/run.h) decides what follows. This header is the contract; tests/contract
// tests it for every backend.
//
// One request at a time per Store; step() returns the reply. No call blocks or throws; one thread.
// Each request is idempotent for the same (owner, attempt): after an unknown result it may be sent
// again. A request that the store executes after `give_up` changes nothing (reply TooLate, or no
// reply at all).
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

// The run that sends a request. `owner` is 128 random bits in hex: it authorizes renew and release,
// so the command never gets it and no log contains it. `attempt` numbers the grants that one run
// requested.
struct Claim {
  std::string owner;
  std::uint32_t attempt = 1;
  bool operator==(const Claim&) const = default;
};

// How the store counts a busy reply (in the same step that decides it).
enum class IfBusy {
  wait,       // count nothing: another acquire follows
  skip,       // skipped{held} and runs{skipped}
  fail,       // runs{busy}
  timed_out,  // wait_timeouts and runs{busy}: the last acquire of a wait
  probe,      // count nothing, and take no place in the queue: a server of a quorum
};

// Names of the run, for display and counters. Stored with the grant; only `group` and `once` affect
// decisions.
struct Identity {
  std::string holder{};  // shown by ls
  std::string job{};     // owner of the counters; may be empty
  std::string group{};   // attempt group: ignores its own min-hold; a busy reply reports an
                         // earlier grant; may be empty
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
  unsigned slots = 1;  // how many may hold at once (option slots), 1 to 1,000
  // For the servers of a quorum: a server that has been running for less, and has no record from
  // before its start, may have lost the lock. It does not grant it (Unavailable). Other stores
  // ignore it.
  Seconds min_uptime{};
  TimePoint give_up{};
};

struct Renew {
  std::string lock;
  Claim claim;
  Identity identity;  // used when the store has lost the record and re-creates it (invariant N3)
  Fence fence = 0;    // of the grant; a higher one raises that of the record (a quorum)
  Millis ttl{};
  unsigned slots = 1;   // as in Acquire: used when the record is created again
  TimePoint give_up{};  // at most the lease's own end
};

// How the run ended, counted with the release. Values of cronlatch_runs_total{outcome} and
// lock_lost/ungated.
enum class RunVerdict {
  succeeded,  // exit 0
  failed,     // the command's own failure
  timed_out,  // max-run
  lost,  // the command was stopped because of the lease; counted even for another owner's record
  cannot_start,  // granted, but the command could not be executed
  given_back,    // granted, never started (signal, or a late grant): no run is counted
  ungated,       // ran without a lock because the store was unavailable; counted for any record
};

struct Release {
  std::string lock;
  Claim claim;
  Identity identity;
  Fence fence = 0;  // 0 when the grant is unknown
  RunVerdict verdict = RunVerdict::given_back;
  bool overlong = false;  // ran past warn-after
  // The command exited with 0 by itself: `identity.once` is finished. The mark is a fact about the
  // work, not about the lease: Released and NotHolder both mean that it is written.
  bool mark_done = false;
  Millis held{};  // for the hold histogram
  Millis min_hold{};
  Millis once_ttl{};
  TimePoint give_up{};
};

using Request = std::variant<Acquire, Renew, Release>;

// ---- replies ----

inline constexpr std::uint32_t kMaxAhead = 100;

struct Granted {
  Fence fence = 0;
  TimePoint sent_at{};   // read before the request was sent: the lease begins here
  bool leased = true;    // false: held until closed, nothing to renew (file store)
  bool stole = false;    // the predecessor's lease had expired without a release
  std::string server{};  // which server granted it, for a request with `min_uptime`; "": unknown
  bool operator==(const Granted&) const = default;
};

enum class BusyReason {
  held,     // another run holds it
  cooling,  // released, but min-hold has not passed
  done,     // `once` is finished already
  queued,   // free, but runs that wait are granted it before; counted like `held`
};

struct Busy {
  BusyReason reason = BusyReason::held;
  std::string holder{};
  std::string job{};
  Fence fence = 0;
  Micros held_for{};  // since it was acquired, by the store's clock (zero when unknown)
  Micros
      remaining{};  // until it could be granted without a renewal; zero when the store has no lease
  bool group_granted = false;  // the attempt group was granted before: a skip would report success
  // How many runs wait before this one, at most kMaxAhead. Without a value this run has no place:
  // it does not wait, or the store keeps no order.
  std::optional<std::uint32_t> ahead{};
  std::string wake{};  // the lock was reserved for this owner; the store wakes it
  bool operator==(const Busy&) const = default;
};

struct Renewed {
  TimePoint sent_at{};    // the lease now begins here
  bool restored = false;  // the store had lost the record; the renewal re-created it
  bool operator==(const Renewed&) const = default;
};

enum class LostReason { expired, taken, revoked, gone };

struct NotHolder {  // final
  LostReason reason = LostReason::taken;
  std::string wake{};  // as in Busy: this run left the queue
  bool operator==(const NotHolder&) const = default;
};

struct Released {
  std::string wake{};  // as in Busy
  bool operator==(const Released&) const = default;
};

struct TooLate {  // nothing was changed
  bool closed =
      false;  // true: this attempt is over; a new grant needs a new attempt number. false: the
              // request arrived too late by the store's clock and may be sent again
  bool operator==(const TooLate&) const = default;
};

// No reply, or an error instead; the request may or may not have been executed.
struct Unavailable {
  Error error;
  bool transient = true;  // a retry may succeed; false: only the user can fix it
  bool unsent = false;    // certainly not executed
  bool operator==(const Unavailable&) const = default;
};

// Nothing was granted and nothing counted: the store may have lost grants in a failover, and waits
// until their leases have ended (option strict). The lock is not busy.
struct Quarantined {
  Micros remaining{};
  bool operator==(const Quarantined&) const = default;
};

using Reply =
    std::variant<Granted, Busy, Renewed, NotHolder, Released, TooLate, Unavailable, Quarantined>;

// The descriptors and the deadline that the caller's ppoll waits for. `events` and `ready` are
// those of poll(2).
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
  // Continues after ppoll: `set` holds what watch() added, with `ready` filled in. Call it also
  // when the deadline has passed and once right after send(). Returns the reply once.
  virtual std::optional<Reply> step(const PollSet& set, TimePoint now) = 0;
  // Between two acquires of a run that waits: until `until` or the next send(), the store reports
  // that the lock was reserved for `owner`. Best effort: a store may report nothing.
  virtual void listen(const std::string& /*lock*/, const std::string& /*owner*/,
                      TimePoint /*until*/) {}
  // True once after such a report. Call it after step().
  virtual bool take_wake() { return false; }
  // A descriptor every process of the command must inherit (the file store's kernel lock), or -1.
  virtual int inherited_fd() const { return -1; }
  // True when programs on different hosts share the locks of this store; false for the file store.
  virtual bool shared() const { return true; }
};

}  // namespace cronlatch
