// SPDX-License-Identifier: Apache-2.0
#include "plugin/why_told.h"

#include "labels/names.h"
#include "plugin/why_pod.h"

namespace cronlatch::plugin {
namespace {

std::string seconds(Millis d) {
  const auto tenths = (d.count() + 50) / 100;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
}

std::string lease(const Left& left) {
  std::string text = "lock " + left.lock + " was held by " + left.holder;
  if (!left.since.empty()) text += " since " + left.since;
  if (!left.until.empty()) text += ", lease until " + left.until;
  return text;
}

Finding store_refused(const Pod& pod, Reason reason) {
  const std::string secret = "the Secret " + std::string(kStoreVolume) + " of namespace " +
                             pod.namespace_name +
                             " (or the one that "
                             "cronlatch.dev/store-secret names)";
  const std::string start = "not started: the store or the configuration forbids it: ";
  if (reason == Reason::auth)
    return {"store_refused", start + "user or password was refused",
            "look at username and password in " + secret + "; " + logs(pod)};
  if (reason == Reason::tls)
    return {"store_refused",
            start + "the store's certificate, its name or the handshake was refused",
            "look at ca.crt (and tls.crt, tls.key) in " + secret + "; has a certificate expired? " +
                logs(pod)};
  if (reason == Reason::acl)
    return {"store_refused", start + "the store's ACL forbids a command or a key to this user",
            "the rights that a run needs are in docs/operations.md; " + logs(pod)};
  return {"store_refused", start + std::string(name_of(reason)), logs(pod)};
}

Finding ran(const Pod& pod) {
  if (pod.left.reason == Reason::ungated)
    return {"ungated",
            "ran without a lock, because the store was away and on-store-down is run; exit code " +
                std::to_string(pod.exit_code),
            "leave cronlatch.dev/on-store-down out unless that is acceptable"};
  if (pod.exit_code == 0)
    return {"succeeded",
            "nothing is wrong: it held lock " + pod.left.lock + " for " + seconds(pod.left.held) +
                " and ended with exit code 0",
            ""};
  return {"failed",
          "it held lock " + pod.left.lock + " for " + seconds(pod.left.held) +
              "; its command ended with exit code " + std::to_string(pod.exit_code),
          logs(pod)};
}

Finding lost(const Pod& pod) {
  const std::string held = "its command was stopped after " + seconds(pod.left.held) + ": ";
  if (pod.left.reason == Reason::revoked)
    return {"lost", held + "somebody revoked its lease (cronlatch release --force)", ""};
  if (pod.left.reason == Reason::taken || pod.left.reason == Reason::gone)
    return {"lost",
            held + "another run took the lock (" + std::string(name_of(pod.left.reason)) + ")",
            "did the store lose its data, or this pod's node stand still? docs/guarantees.md"};
  return {"lost", held + "its lease could not be renewed in time",
          "was the store away for longer than the ttl allows? A longer cronlatch.dev/ttl bridges "
          "more; " +
              logs(pod)};
}

}  // namespace

Finding told(const Pod& pod, Kind kind) {
  const Left& left = pod.left;
  switch (kind) {
    case Kind::ran:
      return ran(pod);
    case Kind::skipped:
      if (left.reason == Reason::done)
        return {"done", "skipped: this scheduled time was done already (once-per-schedule)", ""};
      return {
          "skipped", "skipped: " + lease(left),
          "nothing, if that run does the work. To see it: kubectl cronlatch describe ...; if it "
          "hangs: kubectl cronlatch release " +
              left.lock +
              " --force; if it must run each time: "
              "cronlatch.dev/on-busy=wait"};
    case Kind::busy:
      return {
          "busy", "gave up after " + seconds(left.waited) + ": " + lease(left),
          "a longer cronlatch.dev/wait-timeout; if the holder hangs: kubectl cronlatch release " +
              left.lock + " --force"};
    case Kind::lost:
      return lost(pod);
    case Kind::store_down:
      return {"store_down", "not started: the store did not answer for " + seconds(left.waited),
              "is Redis up, and reachable from namespace " + pod.namespace_name +
                  " (NetworkPolicy, name)? " + logs(pod)};
    case Kind::refused:
      return store_refused(pod, left.reason);
    case Kind::timed_out:
      return {"timed_out", "ran longer than max-run and was stopped after " + seconds(left.held),
              "a longer cronlatch.dev/max-run, if the work needs it; " + logs(pod)};
    case Kind::interrupted:
      return {"interrupted",
              "told to stop before the command was started (the pod was deleted, a "
              "drain, a deadline)",
              ""};
    case Kind::cannot_start:
      return {"cannot_start",
              "the command is not found or cannot be executed (exit code " +
                  std::to_string(pod.exit_code) + ")",
              logs(pod) + "; an image without a shell needs its real path in command"};
    case Kind::usage:
      return {"usage", "the wrapper was called wrongly", logs(pod)};
  }
  return {};
}

}  // namespace cronlatch::plugin
