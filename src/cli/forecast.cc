// SPDX-License-Identifier: Apache-2.0
// Decides in the same order as Run, except what only an acquire checks: explain.cc lists it.
#include "cli/forecast.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/duration.h"
#include "base/text.h"
#include "cli/lock_text.h"
#include "core/lock_json.h"
#include "core/outcome.h"
#include "core/store_schemes.h"

namespace cronlatch {
namespace {

enum class Availability { open, closed };

// Whether the lock could be granted now, and why.
struct LockAccess {
  Availability access;
  std::string reason;
  bool retry = false;  // the attempt group was granted last: a skip would report success
};

std::string until_expiry(const LockView& view) {
  return view.expires.us == 0 ? "" : " until " + show_time(view.expires);
}

bool is_same_group(const LockView& view, const Options& options) {
  return !options.attempt_group.empty() && view.identity.group == options.attempt_group;
}

// The slots that are closed for this run, too.
std::vector<ClosedSlot> closed_for(const LockView& view, const Options& options) {
  std::vector<ClosedSlot> closed = view.closed_slots;
  std::erase_if(closed, [&](const ClosedSlot& slot) {
    return !options.attempt_group.empty() && slot.group == options.attempt_group;
  });
  return closed;
}

LockAccess access_to(const LockView& view, const Options& options) {
  const std::string holder =
      view.identity.holder.empty() ? "another run" : printable(view.identity.holder);
  const bool same_group = is_same_group(view, options);
  const std::vector<ClosedSlot> closed = closed_for(view, options);
  const bool is_closed = closed.size() == view.slots;
  switch (view.state) {
    case LockState::free:
      return {Availability::open, "the lock is free"};
    case LockState::expired:
      if (is_closed)
        return {Availability::closed,
                "its last holder ended without a release, and min-hold keeps it "
                "closed until " +
                    show_time(closed.front().until)};
      return {Availability::open,
              "the lease of " + holder +
                  " expired without a release (a takeover is counted as stolen)"};
    case LockState::cooling:
      if (!is_closed)
        return {Availability::open, "min-hold does not apply to a retry of the same attempt group"};
      return {Availability::closed, "released, but min-hold keeps it closed" + until_expiry(view)};
    case LockState::held:
      return {Availability::closed, "held by " + holder + until_expiry(view), same_group};
    case LockState::revoked:
      if (view.expires.us != 0 && view.expires <= view.now)
        return {Availability::open, "the revoked lease of " + holder + " has ended"};
      return {Availability::closed,
              "revoked, but " + holder + " has not released it yet" + until_expiry(view),
              same_group};
    case LockState::damaged:
      return {Availability::closed,
              "the record in the store is not valid; cronlatch show prints the error"};
  }
  return {Availability::closed, ""};
}

// Whether a slot could be granted now. An expired grant is taken over, unless a min-hold keeps its
// slot closed. No value: as for a lock with one holder.
std::optional<LockAccess> access_to_slot(const LockView& view, const Options& options) {
  const auto used = static_cast<std::size_t>(live_grants(view));
  if (view.slots == 1 || used == 0) return std::nullopt;
  const std::string of = std::to_string(view.slots) + " slots ";
  const std::vector<ClosedSlot> closed = closed_for(view, options);
  const std::size_t busy = used + closed.size();
  if (busy < view.slots)
    return LockAccess{Availability::open,
                      std::to_string(view.slots - busy) + " of " + of + "are free"};
  const bool same_group =
      !options.attempt_group.empty() &&
      std::any_of(view.grants.begin(), view.grants.end(), [&](const GrantView& grant) {
        return grant.identity.group == options.attempt_group;
      });
  if (used == view.slots)
    return LockAccess{Availability::closed, "all " + of + "are held", same_group};
  return LockAccess{Availability::closed,
                    std::to_string(used) + " of " + of +
                        "are held, and min-hold keeps the others closed until " +
                        show_time(closed.front().until),
                    same_group};
}

// While a run holds the lock, the number of slots does not change. Nor during a min-hold, which
// refuses the run, but is a busy lock in a file store.
std::optional<Forecast> other_number(const LockView& view, const Options& options) {
  if (view.slots == static_cast<unsigned>(options.slots)) return std::nullopt;
  const bool is_local = store_transport(options.store) == StoreTransport::local;
  const bool is_held = live_grants(view) > 0;
  const bool is_closed = !is_local && !closed_for(view, options).empty();
  if (!is_held && !is_closed) return std::nullopt;
  const Error refused{Code::config, ""};
  const int code = exit_code(refused);
  return Forecast{Decision::refuse, code,
                  "exit " + std::to_string(code) + ": slots is " + std::to_string(options.slots) +
                      ", and the lock has " + std::to_string(view.slots) +
                      (is_held ? " while a run holds it" : " while a min-hold lasts")};
}

// In a file store.
std::optional<LockAccess> closed_for_another_number(const LockView& view, const Options& options) {
  const bool is_other = view.slots != static_cast<unsigned>(options.slots);
  const std::vector<ClosedSlot> closed = closed_for(view, options);
  if (!is_other || view.slots == 1 || closed.empty()) return std::nullopt;
  return LockAccess{Availability::closed,
                    "min-hold keeps a slot closed until " + show_time(closed.front().until) +
                        ", and the lock has " + std::to_string(view.slots) + " slots until then"};
}

// A run that no longer asks is counted for a few seconds. Its own min-hold opens a slot for a retry
// before all others.
bool others_come_first(const LockView& view, const Options& options) {
  const std::vector<ClosedSlot> closed = closed_for(view, options);
  if (closed.size() < view.closed_slots.size()) return false;
  const std::int64_t busy = live_grants(view) + static_cast<std::int64_t>(closed.size());
  return view.waiters.value_or(0) >= static_cast<std::int64_t>(view.slots) - busy;
}

std::string at_most(Millis limit) {
  return limit.count() == 0 ? "without limit" : "at most " + show_duration(limit);
}

// Of a run whose attempt group was granted before.
Millis longest_retry(const Options& options) {
  const Millis most = 2 * options.ttl;
  return options.wait_timeout.count() == 0 ? most : std::min(most, options.wait_timeout);
}

int busy_code() {
  Outcome busy;
  busy.kind = Kind::busy;
  busy.reason = Reason::held;
  return exit_code(busy, 0);
}

// A user of PostgreSQL who may run may also read.
bool is_redis(std::string_view store) {
  const StoreTransport transport = store_transport(store);
  return transport == StoreTransport::plain || transport == StoreTransport::tls;
}

std::string exit_text(int code) { return "exit " + std::to_string(code); }

}  // namespace

std::string_view name_of(Decision decision) {
  switch (decision) {
    case Decision::start:
      return "start";
    case Decision::skip:
      return "skip";
    case Decision::wait:
      return "wait";
    case Decision::fail:
      return "fail";
    case Decision::ungated:
      return "ungated";
    case Decision::retry:
      return "retry";
    case Decision::refuse:
      return "refuse";
    case Decision::unknown:
      return "unknown";
  }
  return "";
}

Forecast forecast(const LockView& view, const Options& options) {
  if (std::optional<Forecast> refused = other_number(view, options)) return *refused;
  std::optional<LockAccess> of_slots = closed_for_another_number(view, options);
  if (!of_slots) of_slots = access_to_slot(view, options);
  LockAccess found = of_slots.value_or(access_to(view, options));
  if (found.access == Availability::open && others_come_first(view, options))
    found = {Availability::closed,
             "other runs wait for the lock, and come first: " + std::to_string(*view.waiters)};
  if (found.access == Availability::open)
    return {Decision::start, 0, "acquire the lock and start the command: " + found.reason};
  if (found.retry && options.on_busy != OnBusy::wait)
    return {Decision::wait, 0,
            "wait, at most " + show_duration(longest_retry(options)) + ", then " +
                exit_text(busy_code()) +
                ", because the attempt group was granted before: " + found.reason};
  switch (options.on_busy) {
    case OnBusy::skip:
      return {Decision::skip, options.exit_skipped,
              (options.skip_command.empty() ? "skip, " : "run the skip command, ") +
                  exit_text(options.exit_skipped) + ": " + found.reason};
    case OnBusy::wait:
      return {Decision::wait, 0,
              "wait for the lock, " + at_most(options.wait_timeout) + ": " + found.reason};
    case OnBusy::fail:
      return {Decision::fail, busy_code(), exit_text(busy_code()) + ": " + found.reason};
  }
  return {};
}

Forecast in_quarantine(Forecast forecast, Micros remaining, const Options& options) {
  if (forecast.decision != Decision::start || remaining.count() <= 0) return forecast;
  const std::string reason = ": the store grants no lock for " +
                             rounded_duration(std::chrono::ceil<Millis>(remaining)) +
                             " (strict, after a failover or a restart)";
  if (options.wait_timeout.count() == 0 || remaining <= options.wait_timeout)
    return {Decision::wait, 0, "wait for the end of the quarantine" + reason};
  Outcome quarantined;
  quarantined.kind = Kind::store_down;
  quarantined.reason = Reason::quarantine;
  const int code = exit_code(quarantined, 0);
  return {Decision::refuse, code,
          exit_text(code) + " after " + show_duration(options.wait_timeout) + reason};
}

Forecast forecast(const Error& error, const Options& options) {
  const int code = exit_code(error);
  const std::string reason =
      ": " + error.message + (error.hint.empty() ? "" : " (" + error.hint + ')');
  const Forecast refusal{Decision::refuse, code, exit_text(code) + reason};
  if (error.code == Code::acl && is_redis(options.store))
    return {Decision::unknown, 0,
            "this user may not read the lock; a run needs other rights" + reason};
  // on-store-down applies only to an unavailable store, not to a refusal. A certificate can be
  // replaced while a run waits.
  const bool is_awaited = error.code == Code::tls && options.on_store_down == OnStoreDown::wait;
  if (error.code != Code::unreachable && !is_awaited) return refusal;
  switch (options.on_store_down) {
    case OnStoreDown::fail:
      return refusal;
    case OnStoreDown::wait:
      return {Decision::retry, 0, "wait for the store, " + at_most(options.wait_timeout) + reason};
    case OnStoreDown::run:
      return {Decision::ungated, 0, "start the command without a lock" + reason};
  }
  return refusal;
}

}  // namespace cronlatch
