// SPDX-License-Identifier: Apache-2.0
// The facts about a schedule that the rules judge: options of the runs, what happened to each, and
// what the store executed. All times are true time in microseconds. The types of requests, replies
// and records are those of the product; no function of the product is used.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/run_spec.h"
#include "core/store.h"
#include "store/rules.h"

namespace cronlatch::model {

using Us = std::int64_t;
inline constexpr Us kMs = 1'000, kSecond = 1'000'000;
inline constexpr Us kNever = std::numeric_limits<Us>::max() / 4;

// What kills the process tree when the wrapper dies or is stopped.
enum class Cover {
  none,      // the parent-death signal only: descendants may outlive the wrapper
  guardian,  // a second process kills the tree
  pid1,      // the kernel kills every process of the namespace
};

struct RunFacts {
  // the options
  int id = 0;
  std::string owner, job, group, once;
  OnBusy on_busy = OnBusy::skip;
  OnLost on_lost = OnLost::kill;
  OnStoreDown on_store_down = OnStoreDown::fail;
  Leftovers leftovers = Leftovers::end;
  Us ttl = 0, kill_after = 0, max_run = 0, min_hold = 0, wait_timeout = 0, window = 0;
  Us grace_period = 0;
  Cover cover = Cover::none;
  double rate = 1.0;  // of the host's clock

  // before the start
  Us began = 0;
  Us last_busy = kNever;  // the run received a busy reply
  BusyReason last_busy_reason = BusyReason::held;
  bool group_granted = false;  // a busy reply contained it
  bool ran_skip_command = false;
  Us canceled = kNever;  // a signal that requests termination, before the start
  Us refused = kNever;   // the last refusal of the login or the certificate
  bool refused_by_tls = false;

  // the command
  Us launched = kNever;
  bool ungated = false, cannot_start = false;
  Us started = kNever;        // the wrapper received the report of the start
  Us main_exit = kNever;      // true time of the exit
  Us exit_received = kNever;  // the wrapper received it
  int exit_status = 0;
  Us tree_end = kNever;
  Us tree_end_received = kNever;
  bool tree_alive = false;

  // the lease
  Us confirmed_sent = kNever;      // the last confirmed acquire or renewal was sent
  Us confirmed_executed = kNever;  // the store executed the last grant or renewal
  Us not_holder = kNever;          // the run received this reply while a process was alive
  LostReason lost_reason = LostReason::taken;

  // signals of the wrapper to the tree that it did not forward
  Us term_sent = kNever, kill_sent = kNever;
  bool stop_before_exit = false, stop_before_tree_end = false;
  Us terminated = kNever;  // the first signal that requests termination, after the start
  int terminations = 0;

  // stops of the wrapper
  Us stopped_until = 0;
  Us stopped_total = 0;

  // the end
  Us crashed = kNever, finished = kNever;
  int exit_code = -1;
  bool not_marked = false;

  bool is_over() const { return crashed != kNever || finished != kNever; }
  Us ended() const { return crashed != kNever ? crashed : finished; }
  // A duration of the host's clock in true time.
  Us in_true(Us duration) const { return static_cast<Us>(static_cast<double>(duration) / rate); }
  // The command exited with 0 by itself (R4).
  bool is_work_done() const {
    return exit_received != kNever && exit_status == 0 && !stop_before_exit &&
           !(leftovers == Leftovers::wait && stop_before_tree_end);
  }
};

// The part of a slot that says who holds it.
struct LockHead {
  rules::HoldState state = rules::HoldState::none;
  Claim claim;
  Fence fence = 0;
  ServerTime acquired{};
  bool operator==(const LockHead&) const = default;
};

// One request that the store executed.
struct Execution {
  const RunFacts& run;
  const Request& request;
  const Reply& reply;
  const std::vector<LockHead>& heads_before;
  std::size_t live_before = 0;  // slots with a lease that had not expired, by the store's clock
  const rules::Record& after;
  bool late = false;      // its sender had given up, also by the store's clock (less its error)
  bool changed = false;   // set only for a late request: the record changed
  bool repeated = false;  // the same attempt was counted as busy before

  const LockHead& before() const { return heads_before.front(); }  // the first slot
};

// All slots of a record, the first one included.
inline std::vector<const rules::Slot*> slot_list_of(const rules::Record& record) {
  std::vector<const rules::Slot*> slot_list{&record};
  for (const rules::Slot& slot : record.more) slot_list.push_back(&slot);
  return slot_list;
}

struct Login {
  bool accepted = true;
  bool file_was_valid = true;  // the file's password was valid since the connection was opened
};

}  // namespace cronlatch::model
