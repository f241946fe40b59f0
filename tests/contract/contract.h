// SPDX-License-Identifier: Apache-2.0
// For the contract suite: worlds (an empty store that several programs use), and a synchronous
// driver that sends a request, waits with ppoll and steps, as a run does. Independent of the
// backend.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/kernel_clock.h"
#include "core/lock_stats.h"
#include "core/store.h"
#include "support/patience.h"
#include "support/wait_and_step.h"

namespace cronlatch::testing {

// One store. Every open() is another program that uses it.
class World {
 public:
  virtual ~World() = default;
  virtual std::unique_ptr<Backend> open() = 0;
  virtual bool leased() const { return true; }
  virtual bool shared() const { return true; }
  virtual bool has_slots() const { return false; }  // several holders at once
  // How many programs can be connected at the same time.
  virtual std::size_t most_programs() const { return 100; }
  // Whether programs that wait are granted the lock in order, and are woken.
  virtual bool ordered() const { return leased(); }
  virtual bool wakes() const { return false; }
  // Moves the store's clock forward, or waits.
  virtual void pass(Millis time) = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
  bool needs_tls_server = false;
};
inline void PrintTo(const WorldKind& kind, std::ostream* out) { *out << kind.name; }

// The reply, or nothing when there was none within `patience`.
inline std::optional<Reply> send_and_wait(Store& store, const Request& request,
                                          Millis patience = kPatience + Seconds(5)) {
  const TimePoint start = boot_now();
  store.send(request, start);
  std::optional<Reply> reply = store.step(PollSet{}, start);
  while (!reply && boot_now() < start + patience) reply = wait_and_step(store, start + patience);
  return reply;
}

// A program with a claim on one lock: builds requests that differ from each other only in what a
// test is about.
class Caller {
 public:
  Caller(World& world, std::string lock, std::string owner, std::string job = "shop/report")
      : backend_(world.open()), lock_(std::move(lock)), claim_{std::move(owner), 1} {
    identity_ = {"host-of-" + claim_.owner, std::move(job), "", ""};
  }

  Acquire acquire() const {
    Acquire request;
    request.lock = lock_;
    request.claim = claim_;
    request.identity = identity_;
    request.ttl = Millis(60'000);
    request.once_ttl = Millis(3'600'000);
    request.give_up = boot_now() + kPatience;
    return request;
  }
  Renew renew(Fence fence) const {
    Renew request;
    request.lock = lock_;
    request.claim = claim_;
    request.identity = identity_;
    request.fence = fence;
    request.ttl = Millis(60'000);
    request.give_up = boot_now() + kPatience;
    return request;
  }
  Release release(Fence fence, RunVerdict verdict = RunVerdict::succeeded) const {
    Release request;
    request.lock = lock_;
    request.claim = claim_;
    request.identity = identity_;
    request.fence = fence;
    request.verdict = verdict;
    request.mark_done = verdict == RunVerdict::succeeded;
    request.held = Millis(1'500);
    request.once_ttl = Millis(3'600'000);
    request.give_up = boot_now() + kPatience;
    return request;
  }
  std::optional<Reply> operator()(const Request& request) {
    return send_and_wait(*backend_, request);
  }

  LockView show() { return show(lock_); }
  LockView show(const std::string& lock) {
    Result<LockView> view = backend_->show(lock, boot_now() + kPatience);
    return view ? *view : LockView{};
  }
  // Counters of all jobs of the lock.
  std::int64_t count(std::string_view name) {
    std::int64_t sum = 0;
    for (const auto& [job, counters] : show().jobs) sum += counters.get(name);
    return sum;
  }

  Backend& backend() { return *backend_; }
  Identity& identity() { return identity_; }
  Claim& claim() { return claim_; }
  const std::string& lock() const { return lock_; }

 private:
  std::unique_ptr<Backend> backend_;
  std::string lock_;
  Claim claim_;
  Identity identity_;
};

// acquired = released + stolen + revoked + open; "" when it holds.
inline std::string breach_of_law(const LockView& view, bool open) {
  std::int64_t acquired = 0, closed = 0;
  for (const auto& [job, counters] : view.jobs) {
    acquired += counters.get("acquired");
    closed += counters.get("released") + counters.get("stolen") + counters.get("revoked");
  }
  if (acquired == closed + (open ? 1 : 0)) return "";
  return "acquired " + std::to_string(acquired) + ", closed " + std::to_string(closed) +
         (open ? ", one open" : ", none open");
}

}  // namespace cronlatch::testing
