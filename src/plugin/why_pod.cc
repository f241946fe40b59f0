// SPDX-License-Identifier: Apache-2.0
#include "plugin/why_pod.h"

#include "base/rfc3339.h"
#include "labels/names.h"
#include "plugin/why_outcome.h"

namespace cronlatch::plugin {
namespace {

constexpr int kSigkill = 137;

std::string describe(const Pod& pod) {
  return kubectl_in(pod.namespace_name, "describe pod " + pod.name);
}

std::string lock_of(const Pod& pod) {
  const auto lock = pod.flags.find("lock");
  return lock == pod.flags.end() ? "" : lock->second;
}

// The runtime did not start the wrapper, whose program is in an image volume.
bool is_image_volume_error(const Pod& pod, const std::string& reason) {
  if (pod.wrapper_image.empty()) return false;
  for (const std::string_view word :
       {"StartError", "ContainerCannotRun", "CreateContainerError", "RunContainerError"})
    if (reason == word) return true;
  return false;
}

RunFinding image_volume_error(const Pod& pod, const std::string& what) {
  return {"image_volume",
          "node " + pod.node + " did not start the wrapper, which an image volume contains (" +
              what + ')',
          "check that the node has Kubernetes 1.35 and containerd 2.1 or newer, or set the chart "
          "value injection to init-container; " +
              describe(pod)};
}

// The pod ended without an outcome of the wrapper.
RunFinding no_result(const Pod& pod) {
  if (pod.reason == "Evicted")
    return {"evicted", "the pod was evicted from node " + pod.node + ": " + pod.message,
            "check its resource requests and limits"};
  if (pod.reason == "DeadlineExceeded")
    return {"deadline", "activeDeadlineSeconds passed: " + pod.message,
            "set a longer deadline, or a shorter wait-timeout"};
  if (pod.end_reason == "OOMKilled")
    return {"oom",
            "the container was killed for its memory use (OOMKilled); its lock became free one "
            "ttl later",
            "increase resources.limits.memory"};
  if (pod.exit_code == kSigkill)
    return {"killed",
            "the container was killed (SIGKILL) before it reported a result; its lock became free "
            "one ttl later",
            "possible causes: a node failure, a liveness probe, a user; " + describe(pod)};
  if (is_image_volume_error(pod, pod.end_reason)) return image_volume_error(pod, pod.end_reason);
  return {"silent",
          "the container ended with exit code " + std::to_string(pod.exit_code) + " (" +
              pod.end_reason + ") and reported no result",
          logs(pod)};
}

bool is_image_error(const std::string& reason) {
  for (const std::string_view word :
       {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
        "ImageInspectError", "RegistryUnavailable"})
    if (reason == word) return true;
  return false;
}

// The kubelet reports the image of a volume at the container that mounts it.
bool is_wrapper_image_error(const Pod& pod) {
  return pod.waiting_container == kInstallContainer ||
         (!pod.wrapper_image.empty() &&
          pod.waiting_message.find(pod.wrapper_image) != std::string::npos);
}

RunFinding not_started(const Pod& pod) {
  if (!pod.unscheduled.empty())
    return {"unscheduled", "its pod is not scheduled: " + pod.unscheduled, describe(pod)};
  if (is_image_error(pod.waiting))
    return {
        "image",
        "the image of container " + pod.waiting_container + " cannot be pulled (" + pod.waiting +
            "): " + pod.waiting_message,
        is_wrapper_image_error(pod)
            ? "it is cronlatch's own image: check the chart's inject.image and inject.pullSecrets"
            : "check the name of the image, and the pull Secret of the pod"};
  if (!pod.init_failed.empty())
    return {
        "init_failed", "an init container failed: " + pod.init_failed,
        kubectl_in(pod.namespace_name, "logs " + pod.name + " -c " +
                                           pod.init_failed.substr(0, pod.init_failed.find(':')))};
  if (is_image_volume_error(pod, pod.waiting))
    return image_volume_error(pod, pod.waiting + ": " + pod.waiting_message);
  if (!pod.waiting.empty())
    return {"waiting_container",
            "container " + pod.waiting_container + " is not started (" + pod.waiting +
                "): " + pod.waiting_message,
            describe(pod)};
  return {"starting", "its pod " + pod.name + " is starting (" + pod.phase + ")", describe(pod)};
}

RunFinding running(const Cluster& cluster, const Pod& pod) {
  const std::string self = pod.namespace_name + '/' + pod.name;
  const std::string since =
      pod.running_since ? " since " + rfc3339(*pod.running_since) : std::string();
  const LockStatus* const lock =
      cluster.status_page ? cluster.status_page->find(lock_of(pod)) : nullptr;
  if (lock != nullptr && lock->is_held_by(self))
    return {"running", "it holds lock " + lock->name + " and runs" + since, logs(pod)};
  const std::string holder = lock == nullptr ? "" : lock->holder_text();
  if (!holder.empty())
    return {"waiting",
            "it waits for lock " + lock->name + ", held by " + holder +
                (lock->since ? " since " + rfc3339(*lock->since) : std::string()) +
                (lock->expires ? ", lease until " + rfc3339(*lock->expires) : std::string()),
            "no action is needed; if the holder hangs: kubectl cronlatch release " + lock->name +
                " --force"};
  return {"running", "its container runs" + since + ": it holds its lock, or waits for it",
          "its log reports which: " + logs(pod)};
}

}  // namespace

std::string logs(const Pod& pod) {
  return kubectl_in(pod.namespace_name,
                    "logs " + pod.name + (pod.container.empty() ? "" : " -c " + pod.container));
}

std::vector<RunFinding> findings_of_pod(const Cluster& cluster, const Pod& pod) {
  std::vector<RunFinding> out;
  if (pod.container.empty()) {
    out.push_back({"not_gated_pod",
                   "its pod " + pod.name + " (" + pod.phase +
                       ") has no gated container: it runs without a lock",
                   logs(pod)});
  } else if (pod.running) {
    out.push_back(running(cluster, pod));
  } else if (pod.ended) {
    out.push_back(pod.result.kind ? outcome_finding(pod, *pod.result.kind) : no_result(pod));
    if (pod.result.stole)
      out.push_back({"stole", "it acquired the lock after the lease of its last holder had expired",
                     "that holder was killed, or was paused"});
    if (pod.result.not_marked)
      out.push_back(
          {"not_marked",
           "its scheduled time is done, but the store did not record that: a retry or "
           "another cluster may do the same work again",
           "check whether the store was unavailable when the command exited; " + logs(pod)});
  } else if (pod.phase == "Failed") {
    out.push_back(no_result(pod));
  } else {
    out.push_back(not_started(pod));
  }
  if (pod.deleting) out.push_back({"deleting", "its pod is being deleted", ""});
  return out;
}

}  // namespace cronlatch::plugin
