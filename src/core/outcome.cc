// SPDX-License-Identifier: Apache-2.0
// The tables of outcomes, reasons and exit codes, the one mapping between them, and the outcome as
// JSON.
#include "core/outcome.h"

#include <array>

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

constexpr std::array<ExitRow, 12> kExitTable = {{
    {"0-255", "the command's own exit code; 128+n when signal n ended it"},
    {"0", "skipped (`exit-skipped` changes it): the lock was busy, or this identity is done"},
    {"64", "usage: a bad flag, an unknown key, a bad value"},
    {"69", "the store is unavailable; with `on-store-down=wait`, `wait-timeout` passed"},
    {"70", "a bug in cronlatch, or the operating system refused what it always grants"},
    {"75", "busy with `on-busy=fail`, or `wait-timeout` passed: try later"},
    {"77", "the store refused us: authentication, ACL, certificate"},
    {"78",
     "configuration: a file that cannot be read, an invalid lock name, timings that cannot hold"},
    {"79", "the lease was lost and the command was stopped"},
    {"124", "`max-run` passed and the command was stopped"},
    {"126, 127", "the command cannot be executed, is not found"},
    {"128+n",
     "signal n (TERM, INT, HUP, QUIT) came before the command was started: nothing was started"},
}};

constexpr std::array<KindRow, 10> kKindTable = {{
    {Kind::ran, "ran", "the command ran to its end; the exit code is its own"},
    {Kind::skipped, "skipped",
     "the command was not started: somebody else runs, or this identity is done"},
    {Kind::busy, "busy",
     "the command was not started, and that is an error: busy with `on-busy=fail`, or waited too "
     "long"},
    {Kind::lost, "lost", "the lease was lost while the command ran, and the command was stopped"},
    {Kind::store_down, "store_down", "the command was not started: the store did not answer"},
    {Kind::refused, "refused",
     "the command was not started: the store or the configuration forbids it"},
    {Kind::timed_out, "timed_out", "the command ran longer than `max-run` and was stopped"},
    {Kind::interrupted, "interrupted", "a signal came before the command was started"},
    {Kind::cannot_start, "cannot_start",
     "the command could not be executed, or was not found; a lock that was granted is released"},
    {Kind::usage, "usage", "the command line, an environment variable or a key is wrong"},
}};

constexpr std::array<ReasonRow, 17> kReasonTable = {{
    {Reason::held, "held", "somebody else holds the lock"},
    {Reason::done, "done", "the identity given by `once-per` has finished before"},
    {Reason::gone, "gone", "the store lost this run's grant, and another run may hold the lock"},
    {Reason::wait_timeout, "wait_timeout", "`wait-timeout` passed"},
    {Reason::expired, "expired", "the lease could not be renewed in time"},
    {Reason::taken, "taken", "another run owns the lock"},
    {Reason::revoked, "revoked", "somebody revoked the lease (`cronlatch release --force`)"},
    {Reason::unreachable, "unreachable", "the store did not answer, or cannot serve now"},
    {Reason::auth, "auth", "the store refused user or password"},
    {Reason::tls, "tls", "the certificate, the name in it or the handshake was refused"},
    {Reason::acl, "acl", "the store forbids a command or a key to this user"},
    {Reason::config, "config", "a file, a name or a combination of settings cannot be used"},
    {Reason::exec, "exec", "the command is not found or cannot be executed"},
    {Reason::max_run, "max_run", "`max-run` passed"},
    {Reason::signal, "signal", "a signal asked for the end"},
    {Reason::ungated, "ungated", "the command ran without a lock (`on-store-down=run`)"},
    {Reason::not_marked, "not_marked",
     "the identity given by `once-per` has finished, but the store could not record it"},
}};

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

std::string_view name_of(Kind kind) {
  for (const KindRow& row : kKindTable)
    if (row.kind == kind) return row.name;
  return "";
}

std::string_view name_of(Reason reason) {
  for (const ReasonRow& row : kReasonTable)
    if (row.reason == reason) return row.name;
  return "";
}

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

std::span<const ExitRow> exit_table() { return kExitTable; }
std::span<const KindRow> kind_table() { return kKindTable; }
std::span<const ReasonRow> reason_table() { return kReasonTable; }

}  // namespace cronlatch
