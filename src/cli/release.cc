// SPDX-License-Identifier: Apache-2.0
// `cronlatch release LOCK --force`: marks the lease revoked and waits until its holder has released
// it or the lease has ended, so that the next run never overlaps with the holder.
#include <poll.h>

#include <algorithm>

#include "base/duration.h"
#include "base/kernel_clock.h"
#include "base/text.h"
#include "cli/lock_text.h"
#include "cli/session.h"
#include "core/lock_json.h"
#include "core/lock_name.h"
#include "terminal/stdio.h"

namespace cronlatch {
namespace {

constexpr Millis kPollInterval{200};
// Added to the rest of the lease: one poll interval and one request.
constexpr Millis kExtraWait{5'000};

void sleep_for(Millis d) { poll(nullptr, 0, static_cast<int>(d.count())); }

// What `--force` would do is not the same for each holder.
Error held_without_force(const LockView& view, bool shared) {
  const std::string held =
      "lock " + quoted(view.lock) + " is held by " + printable(view.identity.holder);
  const std::string force = "cronlatch release " + view.lock + " --force";
  if (!shared)
    return Error{Code::usage, held + "; a lock in a file cannot be revoked",
                 "terminate its process: cronlatch show " + view.lock + " displays it"};
  // Another program's grant has no fence.
  if (view.fence == 0)
    return Error{Code::usage, held + ", whose command cannot be stopped",
                 "to remove its key while its command runs: " + force};
  // --force revokes the leases of all slots.
  if (const std::int64_t others = live_grants(view) - 1; others > 0)
    return Error{Code::usage,
                 held + " and " + std::to_string(others) +
                     " more; the commands of all holders would be stopped",
                 "to revoke all leases: " + force};
  return Error{Code::usage, held + "; its command would be stopped",
               "to revoke its lease: " + force};
}

Error without_force(const LockView& view, bool shared) {
  const std::string name = quoted(view.lock);
  if (view.closed_until().us != 0)
    return Error{Code::usage,
                 "lock " + name + " is closed by min-hold until " + show_time(view.closed_until()),
                 "to open it: cronlatch release " + view.lock + " --force"};
  // Other slots are free, or hold an expired grant.
  if (!view.closed_slots.empty() && live_grants(view) == 0)
    return Error{Code::usage,
                 "min-hold keeps " + std::to_string(view.closed_slots.size()) + " of the " +
                     std::to_string(view.slots) + " slots of lock " + name + " closed",
                 "to open them: cronlatch release " + view.lock + " --force"};
  const bool is_ended = !shared && view.state == LockState::expired;
  if (!view.open() || is_ended)
    return Error{Code::usage,
                 "lock " + name + " is " + std::string(name_of(view.state)) +
                     ": there is no lease to revoke",
                 "--force is needed to revoke one"};
  return held_without_force(view, shared);
}

// A revoked lease is over when the holder has released it, another run was granted, or the store's
// clock has passed its end.
bool is_over(const LockView& view, Fence revoked) {
  if (view.slots > 1)
    return std::none_of(view.grants.begin(), view.grants.end(),
                        [](const GrantView& grant) { return grant.state == LockState::revoked; });
  return view.fence != revoked || view.state == LockState::free ||
         view.state == LockState::cooling || (view.expires.us != 0 && view.expires <= view.now);
}

struct Wait {
  Backend& store;
  const Clock& clock;
  Micros call_timeout;
};

// The last state; Code::unreachable when the store does not show the end of the lease in time.
Result<LockView> wait_until_over(const Wait& wait, const std::string& lock,
                                 const Revoked& revoked) {
  const TimePoint ends = wait.clock.now() + revoked.remaining + kExtraWait;
  std::optional<Error> last_error;
  while (wait.clock.now() < ends) {
    Result<LockView> view = wait.store.show(lock, wait.clock.now() + wait.call_timeout);
    if (view && is_over(*view, revoked.fence)) return view;
    if (!view && view.error().code != Code::unreachable) return view.error();
    last_error = view ? std::nullopt : std::optional(view.error());
    sleep_for(kPollInterval);
  }
  if (last_error) return *last_error;
  return Error{Code::unreachable, "the lease of lock " + quoted(lock) + " did not end in time",
               "see: cronlatch show " + lock};
}

CommandOutput opened(const std::string& lock, const Revoked& revoked) {
  // Another program's grant has no fence.
  if (revoked.fence == 0)
    return CommandOutput{"opened lock " + lock + ": removed the key of " +
                         printable(revoked.holder) + ", whose command was not stopped\n"};
  const ServerTime until{wall_now().us + revoked.remaining.count()};
  return CommandOutput{"opened lock " + lock + ": ended its min-hold, which lasted until " +
                       show_time(until) + "\n"};
}

std::string lease_of(const std::string& holder, Fence fence) {
  return "the lease of " + printable(holder) + ", fence " + std::to_string(fence);
}

// With several slots the reply contains one of the leases. The others are read afterwards, so that
// a slow answer does not delay the revocation; an earlier command may have revoked some of them.
std::string revoked_leases(const StoreSession& session, const std::string& lock,
                           const Revoked& revoked) {
  std::string leases = lease_of(revoked.holder, revoked.fence);
  const Result<LockView> view = session.store->show(lock, session.give_up);
  if (!view) return leases;
  for (const GrantView& grant : view->grants)
    if (grant.state == LockState::revoked && grant.fence != revoked.fence)
      leases += "; " + lease_of(grant.identity.holder, grant.fence) + ", is revoked, too";
  return leases;
}

}  // namespace

Result<CommandOutput> release_command(const Invocation& invocation) {
  const Result<StoreSession> session = open_session(invocation, Operands::name, kReleaseFlags);
  if (!session) return session.error();
  const LoadedOptions& loaded = session->loaded;
  const std::string& lock = loaded.operands.front();
  if (const Status named = check_lock_name(lock); !named) return named.error();
  if (!loaded.extras.contains(kForce)) {
    const Result<LockView> view = session->store->show(lock, session->give_up);
    return view ? without_force(*view, session->store->shared()) : view.error();
  }
  const TimePoint began = invocation.clock.now();
  const Result<Revoked> revoked = session->store->revoke(lock, session->give_up);
  if (!revoked) return revoked.error();
  if (revoked->was_cooling) return opened(lock, *revoked);
  if (!revoked->was_held) return CommandOutput{"lock " + lock + ": no run held it\n"};
  const std::string what = "lock " + lock + ": revoked " + revoked_leases(*session, lock, *revoked);
  const std::string latest = show_duration(std::chrono::ceil<Seconds>(revoked->remaining));
  if (loaded.extras.contains(kNoWait))
    return CommandOutput{what + "; it can be granted again in at most " + latest + '\n'};
  write_stderr("cronlatch: " + what + "; waiting until the holder releases it, at most " + latest +
               '\n');
  const Wait wait{*session->store, invocation.clock, session->give_up - began};
  const Result<LockView> over = wait_until_over(wait, lock, *revoked);
  if (!over) return over.error();
  const Micros took = invocation.clock.now() - began;
  // The records of an ended and of a released lease are alike; only the time differs.
  return CommandOutput{
      what +
      (took < revoked->remaining ? "; its holder released it after " : "; its lease ended after ") +
      rounded_duration(std::chrono::duration_cast<Millis>(took)) + '\n'};
}

}  // namespace cronlatch
