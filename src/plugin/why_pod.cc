// SPDX-License-Identifier: Apache-2.0
#include "plugin/why_pod.h"

#include "core/text.h"

namespace cronlatch::plugin {
namespace {

constexpr int kSigkill = 137;

std::string in_namespace(const Pod& pod, const std::string& words) {
  return "kubectl -n " + pod.namespace_name + ' ' + words;
}
std::string logs(const Pod& pod) {
  return in_namespace(pod,
                      "logs " + pod.name + (pod.container.empty() ? "" : " -c " + pod.container));
}
std::string describe(const Pod& pod) { return in_namespace(pod, "describe pod " + pod.name); }

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

std::string lock_of(const Pod& pod) {
  const auto lock = pod.flags.find("lock");
  return lock == pod.flags.end() ? "" : lock->second;
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

// Nobody in the pod had a chance to say anything.
Finding silent(const Pod& pod) {
  if (pod.reason == "Evicted")
    return {"evicted", "the pod was evicted from node " + pod.node + ": " + pod.message,
            "its requests and limits say what the node may take away"};
  if (pod.reason == "DeadlineExceeded")
    return {"deadline", "activeDeadlineSeconds passed: " + pod.message,
            "a longer deadline, or a wait-timeout below it"};
  if (pod.end_reason == "OOMKilled")
    return {"oom",
            "the container was killed for its memory (OOMKilled); its lock became free one "
            "ttl later",
            "raise resources.limits.memory"};
  if (pod.exit_code == kSigkill)
    return {"killed",
            "the container was killed (SIGKILL) before it could say anything; its lock "
            "became free one ttl later",
            "a node that went away, a liveness probe, or somebody; " + describe(pod)};
  return {"silent",
          "the container ended with exit code " + std::to_string(pod.exit_code) + " (" +
              pod.end_reason + ") and left no word of cronlatch",
          logs(pod)};
}

bool is_image_trouble(const std::string& reason) {
  for (const std::string_view word :
       {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
        "ImageInspectError", "RegistryUnavailable"})
    if (reason == word) return true;
  return false;
}

Finding not_started(const Pod& pod) {
  if (!pod.unscheduled.empty())
    return {"unscheduled", "no node takes its pod: " + pod.unscheduled, describe(pod)};
  if (is_image_trouble(pod.waiting))
    return {"image",
            "the image of container " + pod.waiting_container + " cannot be had (" + pod.waiting +
                "): " + pod.waiting_message,
            pod.waiting_container == kInstallContainer
                ? "that is cronlatch's own image: the chart's inject.image and inject.pullSecrets"
                : "the image's name, and the pull Secret of the pod"};
  if (!pod.init_failed.empty())
    return {"init_failed", "an init container failed: " + pod.init_failed,
            in_namespace(pod, "logs " + pod.name + " -c " +
                                  pod.init_failed.substr(0, pod.init_failed.find(':')))};
  if (!pod.waiting.empty())
    return {"waiting_container",
            "container " + pod.waiting_container + " is not started (" + pod.waiting +
                "): " + pod.waiting_message,
            describe(pod)};
  return {"starting", "its pod " + pod.name + " is being started (" + pod.phase + ")",
          describe(pod)};
}

Finding running(const Cluster& cluster, const Pod& pod) {
  const std::string self = pod.namespace_name + '/' + pod.name;
  const std::string since =
      pod.running_since ? " since " + rfc3339(*pod.running_since) : std::string();
  const LiveLock* const lock = cluster.page ? cluster.page->find(lock_of(pod)) : nullptr;
  if (lock != nullptr && lock->holder == self)
    return {"running", "it holds lock " + lock->name + " and runs" + since, logs(pod)};
  if (lock != nullptr && !lock->holder.empty())
    return {
        "waiting",
        "it waits for lock " + lock->name + ", held by " + lock->holder +
            (lock->since ? " since " + rfc3339(*lock->since) : std::string()) +
            (lock->expires ? ", lease until " + rfc3339(*lock->expires) : std::string()),
        "nothing, or if the holder hangs: kubectl cronlatch release " + lock->name + " --force"};
  return {"running", "its container runs" + since + ": it holds its lock, or waits for it",
          logs(pod) + " says which"};
}

}  // namespace

std::vector<Finding> judge_pod(const Cluster& cluster, const Job& job, const Pod& pod) {
  std::vector<Finding> out;
  if (pod.container.empty()) {
    out.push_back({"not_gated_pod",
                   "its pod " + pod.name + " (" + pod.phase +
                       ") has no gated container: it runs without a lock",
                   logs(pod)});
  } else if (pod.running) {
    out.push_back(running(cluster, pod));
  } else if (pod.ended) {
    out.push_back(pod.left.kind ? told(pod, *pod.left.kind) : silent(pod));
    if (pod.left.stole)
      out.push_back({"stole",
                     "it took the lock over: its last holder's lease had expired unreleased",
                     "that holder was killed, or stood still"});
  } else if (pod.phase == "Failed") {
    out.push_back(silent(pod));
  } else {
    out.push_back(not_started(pod));
  }
  if (pod.deleting) out.push_back({"deleting", "its pod is being deleted", ""});
  if (job.failed)
    out.push_back({"job_failed", "the Job failed (" + job.failure + "): " + job.message, ""});
  return out;
}

}  // namespace cronlatch::plugin
