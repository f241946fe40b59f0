// SPDX-License-Identifier: Apache-2.0
// `cronlatch release LOCK --force`: marks the lease revoked and waits until its holder has let go
// or the lease has passed, so that whoever asks next is granted, and never beside it.
#include <poll.h>

#include <array>

#include "base/kernel_clock.h"
#include "base/text.h"
#include "cli/lock_text.h"
#include "cli/session.h"
#include "cli/stdio.h"
#include "core/lock_json.h"
#include "core/lock_name.h"

namespace cronlatch {
namespace {

constexpr std::string_view kForce = "--force";
constexpr std::string_view kNoWait = "--no-wait";
constexpr std::array kFlags = {ExtraFlag{kForce, false}, ExtraFlag{kNoWait, false}};

constexpr Millis kLookEvery{200};
// What the lease's end, said by the store, may be late for us: one look and one call.
constexpr Millis kSlack{5'000};

void sleep_for(Millis d) { poll(nullptr, 0, static_cast<int>(d.count())); }

Error without_force(const LockView& view) {
  const std::string name = quoted(view.lock);
  if (view.closed_until.us != 0)
    return Error{
        Code::usage,
        "lock " + name + " is closed by its min-hold until " + show_time(view.closed_until),
        "to open it: cronlatch release " + view.lock + " --force"};
  if (!view.open())
    return Error{Code::usage,
                 "lock " + name + " is " + std::string(name_of(view.state)) +
                     ": there is no lease to revoke",
                 "--force is needed to revoke one"};
  return Error{Code::usage,
               "lock " + name + " is held by " + printable(view.identity.holder) +
                   "; its command would be stopped",
               "to do it: cronlatch release " + view.lock + " --force"};
}

// Revoked leases end in two ways: the holder has let go, or another grant, or the clock of the
// store.
bool is_over(const LockView& view, Fence revoked) {
  return view.fence != revoked || view.state == LockState::free ||
         view.state == LockState::cooling || (view.expires.us != 0 && view.expires <= view.now);
}

struct Wait {
  Backend& store;
  const Clock& clock;
  Micros patience;  // of one call
};

// The state that ended it; Code::unreachable when the lease should be over and nobody says so.
Result<LockView> wait_until_over(const Wait& wait, const std::string& lock,
                                 const Revoked& revoked) {
  const TimePoint ends = wait.clock.now() + revoked.remaining + kSlack;
  std::optional<Error> trouble;
  while (wait.clock.now() < ends) {
    Result<LockView> view = wait.store.show(lock, wait.clock.now() + wait.patience);
    if (view && is_over(*view, revoked.fence)) return view;
    trouble = view ? std::nullopt : std::optional(view.error());
    sleep_for(kLookEvery);
  }
  if (trouble) return *trouble;
  return Error{Code::unreachable, "the lease of lock " + quoted(lock) + " should have ended by now",
               "see: cronlatch show " + lock};
}

Printed opened(const std::string& lock, Micros rest) {
  const ServerTime until{wall_now().us + rest.count()};
  return Printed{"opened lock " + lock + ": its min-hold, which lasted until " + show_time(until) +
                 ", is ended\n"};
}

}  // namespace

Result<Printed> release_command(const Invocation& invocation) {
  const Result<Session> session = open_session(invocation, Rest::name, kFlags);
  if (!session) return session.error();
  const Loaded& loaded = session->loaded;
  const std::string& lock = loaded.rest.front();
  if (const Status named = check_lock_name(lock); !named) return named.error();
  if (!loaded.extras.contains(kForce)) {
    const Result<LockView> view = session->store->show(lock, session->give_up);
    return view ? without_force(*view) : view.error();
  }
  const TimePoint began = invocation.clock.now();
  const Result<Revoked> revoked = session->store->revoke(lock, session->give_up);
  if (!revoked) return revoked.error();
  if (revoked->was_cooling) return opened(lock, revoked->remaining);
  if (!revoked->was_held) return Printed{"lock " + lock + ": nobody held it\n"};
  const std::string what = "lock " + lock + ": revoked the lease of " + printable(revoked->holder) +
                           ", fence " + std::to_string(revoked->fence);
  const std::string latest = show_duration(std::chrono::ceil<Seconds>(revoked->remaining));
  if (loaded.extras.contains(kNoWait))
    return Printed{what + "; it can be granted again in at most " + latest + '\n'};
  write_stderr("cronlatch: " + what + "; waiting until the holder lets go, at most " + latest +
               '\n');
  const Wait wait{*session->store, invocation.clock, session->give_up - began};
  const Result<LockView> over = wait_until_over(wait, lock, *revoked);
  if (!over) return over.error();
  const Micros took = invocation.clock.now() - began;
  // The record of a lease that has passed looks like one that was let go; only the time tells them
  // apart.
  return Printed{
      what +
      (took < revoked->remaining ? "; its holder let go after " : "; its lease passed after ") +
      rough_duration(std::chrono::duration_cast<Millis>(took)) + '\n'};
}

}  // namespace cronlatch
