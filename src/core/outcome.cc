// SPDX-License-Identifier: Apache-2.0
// The mapping from outcomes and errors to exit codes, and the outcome as JSON.
#include "core/outcome.h"

#include "base/rfc3339.h"
#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::size_t kMaxJson = 1'024;

constexpr int kExitUsage = 64;
constexpr int kExitStoreDown = 69;
constexpr int kExitBug = 70;
constexpr int kExitBusy = 75;
constexpr int kExitRefused = 77;
constexpr int kExitConfig = 78;
constexpr int kExitLost = 79;
constexpr int kExitTimedOut = 124;
constexpr int kExitDenied = 126;
constexpr int kExitMissing = 127;
constexpr int kExitSignal = 128;

// What only some outcomes have.
std::string extras(const Outcome& outcome) {
  std::string out;
  if (outcome.since) out += ",\"since\":" + json_quoted(rfc3339(*outcome.since));
  if (outcome.until) out += ",\"until\":" + json_quoted(rfc3339(*outcome.until));
  if (outcome.stole) out += ",\"stolen\":true";
  if (outcome.not_marked) out += ",\"not_marked\":true";
  return out;
}

int refused_code(Reason reason) { return reason == Reason::config ? kExitConfig : kExitRefused; }

}  // namespace

int exit_code(const Error& error) {
  switch (error.code) {
    case Code::usage:
      return kExitUsage;
    case Code::config:
      return kExitConfig;
    case Code::unreachable:
      return kExitStoreDown;
    case Code::auth:
    case Code::acl:
    case Code::tls:
      return kExitRefused;
    case Code::exec_denied:
      return kExitDenied;
    case Code::exec_missing:
      return kExitMissing;
    case Code::system:
    case Code::bug:
      return kExitBug;
  }
  return kExitBug;
}

int exit_code(const Outcome& outcome, int exit_skipped) {
  switch (outcome.kind) {
    case Kind::ran:
      return outcome.child_code.value_or(kExitBug);
    case Kind::skipped:
      return exit_skipped;
    case Kind::busy:
      return kExitBusy;
    case Kind::lost:
      return kExitLost;
    case Kind::store_down:
      return kExitStoreDown;
    case Kind::refused:
      return refused_code(outcome.reason);
    case Kind::timed_out:
      return kExitTimedOut;
    case Kind::interrupted:
      return kExitSignal + outcome.signo;
    case Kind::cannot_start:
      return outcome.error && outcome.error->code == Code::exec_missing ? kExitMissing
                                                                        : kExitDenied;
    case Kind::usage:
      return outcome.error ? exit_code(*outcome.error) : kExitUsage;
  }
  return kExitBug;
}

std::string to_json(const Outcome& outcome, int exit_skipped) {
  const std::string head = "{\"v\":1,\"outcome\":" + json_quoted(name_of(outcome.kind)) +
                           ",\"reason\":" + json_quoted(name_of(outcome.reason)) + ",\"lock\":\"";
  const std::string middle = "\",\"fence\":\"" + std::to_string(outcome.fence) + "\",\"holder\":\"";
  const std::string tail = "\",\"exit_code\":" + std::to_string(exit_code(outcome, exit_skipped)) +
                           ",\"waited_ms\":" + std::to_string(outcome.waited.count()) +
                           ",\"held_ms\":" + std::to_string(outcome.held.count()) +
                           ",\"started\":" + json_quoted(rfc3339(outcome.started)) +
                           extras(outcome) + "}";
  const std::size_t room = kMaxJson - head.size() - middle.size() - tail.size();
  const std::string lock = json_shortened(outcome.lock, room);
  return head + lock + middle + json_shortened(outcome.holder, room - lock.size()) + tail;
}

}  // namespace cronlatch
