// SPDX-License-Identifier: Apache-2.0
// Outcome: how a run ended. The exit code, the outcome file, the termination message, metrics and
// documentation are all derived from the tables below.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/store.h"

namespace cronlatch {

enum class Kind {
  ran,
  skipped,
  busy,
  lost,
  store_down,
  refused,
  timed_out,
  interrupted,
  cannot_start,
  usage
};

enum class Reason {
  none,
  held,
  done,
  gone,
  wait_timeout,
  expired,
  taken,
  revoked,
  unreachable,
  auth,
  tls,
  acl,
  config,
  exec,
  max_run,
  signal,
  ungated,
  not_marked,
  guardian,
  quarantine
};

std::string_view name_of(Kind kind);
std::string_view name_of(Reason reason);

struct Outcome {
  Kind kind = Kind::usage;
  Reason reason = Reason::none;
  std::optional<int>
      child_code;  // 0 to 255, 128+n for a signal: when the command (or nothing else) decided
  int signo = 0;   // interrupted: which signal
  std::optional<Error> error;  // the error, if there is one
  std::string lock;
  std::string holder;                        // ran: of this run; skipped, busy: the lock's holder
  Fence fence = 0;                           // ran: of this run; skipped, busy: the holder's
  Millis waited{};                           // from the first acquire to the decision
  Millis held{};                             // from the grant to the end of the command
  WallTime started{};                        // when the run began
  std::optional<WallTime> since{}, until{};  // skipped, busy: the holder's lease, where it has one
  bool stole = false;       // ran: the last holder's lease had expired without a release
  bool not_marked = false;  // the run identity is done, but could not be recorded as done
};

// The exit code of contract section 3. `exit_skipped` is the option of that name.
int exit_code(const Outcome& outcome, int exit_skipped);

// The exit code for an error met before or outside a run (usage 64, config 78, ...).
int exit_code(const Error& error);

// One JSON object of at most 1,024 bytes, no newline: the outcome file's line, the termination
// message. The holder is shortened first, then the lock, when it would be longer.
std::string to_json(const Outcome& outcome, int exit_skipped);

// ---- the tables that documentation is rendered from ----
struct ExitRow {
  std::string_view code;
  std::string_view meaning;
};
struct KindRow {
  Kind kind;
  std::string_view name, meaning;
};
struct ReasonRow {
  Reason reason;
  std::string_view name, meaning;
};
std::span<const ExitRow> exit_table();
std::span<const KindRow> kind_table();
std::span<const ReasonRow> reason_table();

}  // namespace cronlatch
