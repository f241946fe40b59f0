// SPDX-License-Identifier: Apache-2.0
// What the plugin needs of CronJobs, Jobs, pods and Events: JSON as `kubectl get -o json` prints it
// in, plain structs out. Pure. Tenants wrote much of it: texts are shown only when made printable,
// numbers and words are believed only where a list of them is closed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/outcome.h"
#include "kube/json.h"

namespace cronlatch::plugin {

using Texts = std::map<std::string, std::string, std::less<>>;

// The options that a gated container's command was given (`--lock=a/b` is lock -> a/b); empty for a
// command that is not gated.
Texts gate_flags(const kube::Json& pod_spec);
// The container that is gated (labels/gate_argv.h), or nothing.
const kube::Json* gated_container(const kube::Json& pod_spec);

struct CronJob {
  std::string namespace_name, name, uid;
  std::string schedule, time_zone, concurrency;
  bool suspended = false;
  std::optional<Seconds> starting_deadline;
  std::optional<WallTime> created, last_scheduled;
  std::size_t active = 0;
  Texts annotations;  // annotations cronlatch.dev/ without prefix, of its three places
  Texts mirrored;     // those that reach its Jobs: of the Job template and its pods
  Texts flags;        // of a gate that the chart wrote out; usually empty
  std::set<std::string, std::less<>> with_args;  // its containers that have some

  std::string id() const { return namespace_name + '/' + name; }
  bool wants_lock() const;  // annotated, and not with "false"
  bool written_out() const { return !flags.empty(); }
  // What its annotations, or its written-out gate, say the lock is called in the store.
  std::string lock() const;
};
CronJob read_cronjob(const kube::Json& object);

struct Job {
  std::string namespace_name, name, uid, cronjob;  // cronjob: its owner, or empty
  std::optional<WallTime> scheduled, created, started, completed;
  bool wants_lock = false, gated = false, suspended = false;
  bool complete = false, failed = false;
  std::string failure, message;  // of the condition Failed: "BackoffLimitExceeded", ...
  // Who told what the gated container's image runs; empty: nobody had to.
  std::string command_from;
  std::string container;  // the gated one, and without the wrapper:
  std::vector<std::string> command, args;
  std::string command_by_arch;  // instead of `command`, JSON
};
Job read_job(const kube::Json& object);

// The one line that the wrapper left; `kind` is nothing when it left none.
struct Left {
  std::optional<Kind> kind;
  Reason reason = Reason::none;
  std::string lock, holder, fence;
  std::string since, until;  // skipped, busy: the holder's lease, RFC 3339
  bool stole = false;
  bool not_marked = false;
  Millis waited{}, held{};
};
Left read_left(std::string_view termination_message);

struct Pod {
  std::string namespace_name, name, job, node;
  std::string phase, reason, message;  // status.reason: Evicted, NodeLost, ...
  std::string container;               // the gated one; empty: none is
  Texts flags;                         // gate_flags
  std::optional<WallTime> created;
  bool deleting = false;
  std::string unscheduled;               // why no node takes it
  std::string waiting, waiting_message;  // of the container that holds everything up
  std::string waiting_container;
  std::string init_failed;  // "cronlatch-install: exit code 1 (Error)"
  bool running = false;     // the gated container runs
  bool ended = false;
  int exit_code = 0;
  std::string end_reason;  // Completed, Error, OOMKilled, ContainerCannotRun
  std::optional<WallTime> running_since, finished;
  Left left;
};
Pod read_pod(const kube::Json& object);

struct Event {
  std::string namespace_name, kind, name, reason, message;  // what it is about, and what it says
  bool warning = false;
  std::optional<WallTime> at;
};
Event read_event(const kube::Json& object);

// The items of a List, or nothing of anything else.
const std::vector<kube::Json>& items_of(const kube::Json& list);

}  // namespace cronlatch::plugin
