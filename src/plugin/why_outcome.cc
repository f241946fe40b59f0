// SPDX-License-Identifier: Apache-2.0
#include "plugin/why_outcome.h"

#include "core/outcome_text.h"
#include "labels/names.h"
#include "plugin/why_pod.h"

namespace cronlatch::plugin {
namespace {

struct NextStep {
  std::string code;
  std::string next;
};

std::string release(const RunResult& result) {
  return "kubectl cronlatch release " + result.lock + " --force";
}

NextStep ran(const Pod& pod) {
  if (pod.result.reason == Reason::ungated)
    return {"ungated",
            "remove cronlatch.dev/on-store-down, unless runs without a lock are acceptable"};
  return pod.exit_code == 0 ? NextStep{"succeeded", ""} : NextStep{"failed", logs(pod)};
}

NextStep skipped(const RunResult& result) {
  if (result.reason == Reason::done) return {"done", ""};
  return {"skipped",
          "nothing, if that run does the work. To show it: kubectl cronlatch describe. If it "
          "hangs: " +
              release(result) + ". To run each time: cronlatch.dev/on-busy=wait"};
}

NextStep lost(const Pod& pod) {
  switch (pod.result.reason) {
    case Reason::revoked:
      return {"lost", ""};
    case Reason::guardian:
      return {"lost", "check what killed or stopped the process cronlatch-guard; " + logs(pod)};
    case Reason::taken:
    case Reason::gone:
      return {"lost", "check whether the store lost data, or whether node " + pod.node +
                          " was paused; docs/guarantees.md"};
    default:
      return {"lost",
              "check whether the store was unavailable for longer than the ttl allows; a longer "
              "cronlatch.dev/ttl tolerates more; " +
                  logs(pod)};
  }
}

NextStep refused(const Pod& pod) {
  const std::string secret = " in the Secret " + std::string(kStoreVolume) + " of namespace " +
                             pod.namespace_name +
                             " (or the one that cronlatch.dev/store-secret names); ";
  switch (pod.result.reason) {
    case Reason::auth:
      return {"store_refused", "check username and password" + secret + logs(pod)};
    case Reason::tls:
      return {"store_refused",
              "check ca.crt, tls.crt and tls.key, and when they expire," + secret + logs(pod)};
    case Reason::acl:
      return {"store_refused",
              "docs/operations.md lists the permissions that a run needs; " + logs(pod)};
    default:
      return {"store_refused", logs(pod)};
  }
}

NextStep next_step(const Pod& pod, Kind kind) {
  switch (kind) {
    case Kind::ran:
      return ran(pod);
    case Kind::skipped:
      return skipped(pod.result);
    case Kind::busy:
      return {"busy", "set a longer cronlatch.dev/wait-timeout; if the holder hangs: " +
                          release(pod.result)};
    case Kind::lost:
      return lost(pod);
    case Kind::store_down:
      if (pod.result.reason == Reason::quarantine)
        return {"store_quarantine",
                "nothing: the next run starts after the quarantine; a longer "
                "cronlatch.dev/wait-timeout waits for its end; docs/stores.md"};
      return {"store_down", "check that the store runs and is reachable from namespace " +
                                pod.namespace_name + " (NetworkPolicy, DNS name); " + logs(pod)};
    case Kind::refused:
      return refused(pod);
    case Kind::timed_out:
      return {"timed_out", "set a longer cronlatch.dev/max-run if the work needs it; " + logs(pod)};
    case Kind::interrupted:
      return {"interrupted", "a deleted pod, a drained node or a deadline sends this signal"};
    case Kind::cannot_start:
      return {"cannot_start",
              logs(pod) + "; in an image without a shell, command needs the program's real path"};
    case Kind::usage:
      return {"usage", logs(pod)};
  }
  return {};
}

}  // namespace

RunFinding outcome_finding(const Pod& pod, Kind kind) {
  NextStep step = next_step(pod, kind);
  return {std::move(step.code), outcome_sentence(facts_of(pod.result, kind, pod.exit_code)),
          std::move(step.next)};
}

}  // namespace cronlatch::plugin
