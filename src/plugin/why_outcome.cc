// SPDX-License-Identifier: Apache-2.0
#include "plugin/why_outcome.h"

#include "labels/names.h"
#include "plugin/why_pod.h"

namespace cronlatch::plugin {
namespace {

std::string seconds(Millis d) {
  const auto tenths = (d.count() + 50) / 100;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
}

std::string lease(const RunResult& result) {
  std::string text = "lock " + result.lock + " was held by " + result.holder;
  if (!result.since.empty()) text += " since " + result.since;
  if (!result.until.empty()) text += ", lease until " + result.until;
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
  if (pod.result.reason == Reason::ungated)
    return {"ungated",
            "ran without a lock, because the store was away and on-store-down is run; exit code " +
                std::to_string(pod.exit_code),
            "leave cronlatch.dev/on-store-down out unless that is acceptable"};
  if (pod.exit_code == 0)
    return {"succeeded",
            "nothing is wrong: it held lock " + pod.result.lock + " for " +
                seconds(pod.result.held) + " and ended with exit code 0",
            ""};
  return {"failed",
          "it held lock " + pod.result.lock + " for " + seconds(pod.result.held) +
              "; its command ended with exit code " + std::to_string(pod.exit_code),
          logs(pod)};
}

Finding lost(const Pod& pod) {
  const std::string held = "its command was stopped after " + seconds(pod.result.held) + ": ";
  if (pod.result.reason == Reason::revoked)
    return {"lost", held + "somebody revoked its lease (cronlatch release --force)", ""};
  if (pod.result.reason == Reason::taken || pod.result.reason == Reason::gone)
    return {"lost",
            held + "another run took the lock (" + std::string(name_of(pod.result.reason)) + ")",
            "did the store lose its data, or this pod's node stand still? docs/guarantees.md"};
  return {"lost", held + "its lease could not be renewed in time",
          "was the store away for longer than the ttl allows? A longer cronlatch.dev/ttl bridges "
          "more; " +
              logs(pod)};
}

}  // namespace

Finding outcome_finding(const Pod& pod, Kind kind) {
  const RunResult& result = pod.result;
  switch (kind) {
    case Kind::ran:
      return ran(pod);
    case Kind::skipped:
      if (result.reason == Reason::done)
        return {"done", "skipped: this scheduled time was done already (once-per-schedule)", ""};
      return {
          "skipped", "skipped: " + lease(result),
          "nothing, if that run does the work. To see it: kubectl cronlatch describe ...; if it "
          "hangs: kubectl cronlatch release " +
              result.lock +
              " --force; if it must run each time: "
              "cronlatch.dev/on-busy=wait"};
    case Kind::busy:
      return {
          "busy", "gave up after " + seconds(result.waited) + ": " + lease(result),
          "a longer cronlatch.dev/wait-timeout; if the holder hangs: kubectl cronlatch release " +
              result.lock + " --force"};
    case Kind::lost:
      return lost(pod);
    case Kind::store_down:
      return {"store_down", "not started: the store did not answer for " + seconds(result.waited),
              "is Redis up, and reachable from namespace " + pod.namespace_name +
                  " (NetworkPolicy, name)? " + logs(pod)};
    case Kind::refused:
      return store_refused(pod, result.reason);
    case Kind::timed_out:
      return {"timed_out", "ran longer than max-run and was stopped after " + seconds(result.held),
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
