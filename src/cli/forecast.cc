// SPDX-License-Identifier: Apache-2.0
// The same order of questions as Run's, without the store's own part: whether `once-per` is done,
// only an acquire can tell.
#include "cli/forecast.h"

#include "base/text.h"
#include "cli/lock_text.h"
#include "core/outcome.h"

namespace cronlatch {
namespace {

enum class Door { open, shut };

// What keeps the lock from being granted now, or how it would be granted.
struct Obstacle {
  Door door;
  std::string reason;
  bool retry = false;  // our attempt group was granted last: a skip would pass for success
};

std::string until(const LockView& view) {
  return view.expires.us == 0 ? "" : " until " + show_time(view.expires);
}

Obstacle obstacle(const LockView& view, const Options& options) {
  const std::string holder =
      view.identity.holder.empty() ? "somebody" : printable(view.identity.holder);
  const bool same_group =
      !options.attempt_group.empty() && view.identity.group == options.attempt_group;
  switch (view.state) {
    case LockState::free:
      return {Door::open, "the lock is free"};
    case LockState::expired:
      if (view.closed_until.us != 0 && !same_group)
        return {Door::shut,
                "its last holder has ended without a release, and min-hold keeps it "
                "closed until " +
                    show_time(view.closed_until)};
      return {Door::open,
              "the lease of " + holder + " has expired unreleased (the takeover counts as stolen)"};
    case LockState::cooling:
      if (same_group) return {Door::open, "min-hold does not bind a retry of the same group"};
      return {Door::shut, "released, but closed by min-hold" + until(view)};
    case LockState::held:
      return {Door::shut, "held by " + holder + until(view), same_group};
    case LockState::revoked:
      if (view.expires.us != 0 && view.expires <= view.now)
        return {Door::open, "the revoked lease of " + holder + " has passed"};
      return {Door::shut, "revoked, but " + holder + " has not let go yet" + until(view),
              same_group};
    case LockState::damaged:
      return {Door::shut, "what the store holds of the lock cannot be understood"};
  }
  return {Door::shut, ""};
}

std::string at_most(Millis limit) {
  return limit.count() == 0 ? "without limit" : "at most " + show_duration(limit);
}

int busy_code() {
  Outcome busy;
  busy.kind = Kind::busy;
  busy.reason = Reason::held;
  return exit_code(busy, 0);
}

std::string exits(int code) { return "exit " + std::to_string(code); }

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
  }
  return "";
}

Forecast forecast(const LockView& view, const Options& options) {
  const Obstacle found = obstacle(view, options);
  if (found.door == Door::open)
    return {Decision::start, 0, "take the lock and start the command: " + found.reason};
  if (found.retry && options.on_busy != OnBusy::wait)
    return {Decision::wait, 0,
            "wait, at most " + show_duration(2 * options.ttl) + ", then " + exits(busy_code()) +
                ", because the attempt group has run before: " + found.reason};
  switch (options.on_busy) {
    case OnBusy::skip:
      return {Decision::skip, options.exit_skipped,
              (options.skip_command.empty() ? "do nothing, " : "run the skip command, ") +
                  exits(options.exit_skipped) + ": " + found.reason};
    case OnBusy::wait:
      return {Decision::wait, 0,
              "wait for the lock, " + at_most(options.wait_timeout) + ": " + found.reason};
    case OnBusy::fail:
      return {Decision::fail, busy_code(), exits(busy_code()) + ": " + found.reason};
  }
  return {};
}

Forecast forecast(const Error& trouble, const Options& options) {
  const int code = exit_code(trouble);
  const std::string reason =
      ": " + trouble.message + (trouble.hint.empty() ? "" : " (" + trouble.hint + ')');
  const Forecast refusal{Decision::refuse, code, exits(code) + reason};
  // Only a store that may come back is worth waiting for, or running without.
  if (trouble.code != Code::unreachable) return refusal;
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
