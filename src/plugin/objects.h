// SPDX-License-Identifier: Apache-2.0
// CronJobs, Jobs, pods and Events: reads the JSON of `kubectl get -o json` into structs. Pure.
// Tenants write many of the fields: text is made printable before it is displayed, and outcomes and
// reasons are accepted only from the closed lists of core/outcome.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "gated/run_result.h"
#include "kube/json.h"

namespace cronlatch::plugin {

using KeyValues = std::map<std::string, std::string, std::less<>>;

// The options in the command of the gated container (`--lock=a/b` is lock -> a/b); empty if no
// container is gated.
KeyValues gate_flags(const kube::Json& pod_spec);

struct CronJob {
  std::string namespace_name, name, uid;
  std::string schedule, time_zone, concurrency;
  bool suspended = false;
  std::optional<Seconds> starting_deadline;
  std::optional<WallTime> created, last_scheduled;
  std::size_t active = 0;
  KeyValues annotations;      // annotations without the prefix cronlatch.dev/, of all three places
  KeyValues job_annotations;  // those that its Jobs get: of the Job template and the pod template
  KeyValues flags;            // of a gate in its own manifest; usually empty
  std::set<std::string, std::less<>> with_args;  // its containers that have args

  std::string id() const { return namespace_name + '/' + name; }
  bool requests_lock() const;  // has the annotation, and not with "false"
  bool has_own_gate() const { return !flags.empty(); }
  // The name of its lock in the store, from its annotations or its own gate.
  std::string lock() const;
};
CronJob read_cronjob(const kube::Json& object);

struct Job {
  std::string namespace_name, name, uid, cronjob;  // cronjob: its owner, or empty
  std::optional<WallTime> scheduled, created, started, completed;
  bool requests_lock = false, gated = false, suspended = false;
  bool complete = false, failed = false;
  bool has_several_pods = false;  // parallelism or completions above 1
  std::string failure, message;   // of the condition Failed: "BackoffLimitExceeded", ...
  // The source of the command of the gated container's image; empty: the container has a command.
  std::string command_from;
  std::string container;  // the gated one; its command and args without the wrapper:
  std::vector<std::string> command, args;
  std::string command_by_arch;  // instead of `command`, JSON
};
Job read_job(const kube::Json& object);

struct Pod {
  std::string namespace_name, name, job, node;
  std::string phase, reason, message;  // status.reason: Evicted, NodeLost, ...
  std::string container;               // the gated one; empty: none
  KeyValues flags;                     // gate_flags
  std::optional<WallTime> created;
  bool deleting = false;
  std::string unscheduled;               // why it is not scheduled
  std::string waiting, waiting_message;  // of the first container that waits
  std::string waiting_container;
  std::string
      wrapper_image;  // of the volume that has the wrapper; empty: an init container copies it
  std::string init_failed;  // "cronlatch-install: exit code 1 (Error)"
  bool running = false;     // the gated container runs
  bool ended = false;
  int exit_code = 0;
  std::string end_reason;  // Completed, Error, OOMKilled, ContainerCannotRun
  std::optional<WallTime> running_since, finished;
  RunResult result;
};
Pod read_pod(const kube::Json& object);

struct ClusterEvent {
  std::string namespace_name, kind, name, reason, message;  // the object, and the content
  bool warning = false;
  std::optional<WallTime> at;
};
ClusterEvent read_event(const kube::Json& object);

// The items of a List; empty for any other value.
const std::vector<kube::Json>& items_of(const kube::Json& list);

}  // namespace cronlatch::plugin
