// SPDX-License-Identifier: Apache-2.0
// The tables of outcomes, reasons and exit codes. Reference docs, help pages, Events and
// `kubectl cronlatch why` are rendered from them.
#include "core/outcome.h"

#include <array>

namespace cronlatch {
namespace {

constexpr std::array<ExitRow, 12> kExitTable = {{
    {"0-255", "the command's own exit code; 128+n when signal n ended it"},
    {"0", "skipped (`exit-skipped` changes it): the lock was busy, or this identity is done"},
    {"64", "usage: an invalid flag, an unknown key, an invalid value"},
    {"69", "the store is unavailable; with `on-store-down=wait`, `wait-timeout` passed"},
    {"70", "a bug in cronlatch, or the operating system refused a call that a run needs"},
    {"75", "busy with `on-busy=fail`, or `wait-timeout` passed: try later"},
    {"77", "the store refused this user or its certificate: authentication, ACL, TLS"},
    {"78", "configuration: a file that cannot be read, an invalid lock name, invalid timings"},
    {"79", "the lease (or the guardian) was lost and the command was stopped"},
    {"124", "`max-run` passed and the command was stopped"},
    {"126, 127", "the command cannot be executed, is not found"},
    {"128+n",
     "signal n (TERM, INT, HUP, QUIT) arrived before the command was started: nothing was started"},
}};

constexpr std::array<KindRow, 10> kKindTable = {{
    {Kind::ran, "ran", "the command ran to its end; the exit code is its own"},
    {Kind::skipped, "skipped",
     "the command was not started: another run holds the lock, or this identity is done"},
    {Kind::busy, "busy",
     "the command was not started, and that is an error: busy with `on-busy=fail`, or "
     "`wait-timeout` passed"},
    {Kind::lost, "lost",
     "the lease, or the guardian that kills the command with it, was lost while the command ran, "
     "and the command was stopped"},
    {Kind::store_down, "store_down", "the command was not started: the store was unavailable"},
    {Kind::refused, "refused",
     "the command was not started: the store refused this user, or the configuration is not valid"},
    {Kind::timed_out, "timed_out", "the command ran longer than `max-run` and was stopped"},
    {Kind::interrupted, "interrupted", "a signal arrived before the command was started"},
    {Kind::cannot_start, "cannot_start",
     "the command could not be executed, or was not found; a lock that was granted is released"},
    {Kind::usage, "usage", "the command line, an environment variable or a key is not valid"},
}};

constexpr std::array<ReasonRow, 19> kReasonTable = {{
    {Reason::held, "held", "another run holds the lock"},
    {Reason::done, "done", "the identity given by `once-per` is already done"},
    {Reason::gone, "gone", "the store lost this run's grant, and another run may hold the lock"},
    {Reason::wait_timeout, "wait_timeout", "`wait-timeout` passed"},
    {Reason::expired, "expired", "the lease could not be renewed in time"},
    {Reason::taken, "taken", "the lease expired, and another run was granted the lock"},
    {Reason::revoked, "revoked", "the lease was revoked (`cronlatch release --force`)"},
    {Reason::unreachable, "unreachable",
     "the store was unavailable (no answer, or a temporary error)"},
    {Reason::auth, "auth", "the store refused the user or the password"},
    {Reason::tls, "tls", "the certificate, the name in it or the TLS handshake was refused"},
    {Reason::acl, "acl", "the store's ACL does not permit this user a command or a key"},
    {Reason::config, "config",
     "an option, a file, a name or a combination of settings is not valid"},
    {Reason::exec, "exec", "the command is not found or cannot be executed"},
    {Reason::max_run, "max_run", "the command ran longer than `max-run`"},
    {Reason::signal, "signal", "a signal requested termination"},
    {Reason::ungated, "ungated", "the store was unavailable and `on-store-down` is `run`"},
    {Reason::not_marked, "not_marked",
     "the identity given by `once-per` is done, but the store could not record it"},
    {Reason::guardian, "guardian", "the guardian ended or was stopped, and the command was killed"},
    {Reason::quarantine, "quarantine",
     "the store may have lost grants in a failover or a restart, and grants nothing until their "
     "leases have ended (`strict`)"},
}};

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

std::span<const ExitRow> exit_table() { return kExitTable; }
std::span<const KindRow> kind_table() { return kKindTable; }
std::span<const ReasonRow> reason_table() { return kReasonTable; }

}  // namespace cronlatch
