// SPDX-License-Identifier: Apache-2.0
// A Job as the admission rules read it: parsed once, with types. It is a Job that is being created,
// or the one that a CronJob's template would become. Values of a wrong type count as absent: the
// API server rejects them with a better message. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/json.h"

namespace cronlatch::op {

// The annotations cronlatch.dev/..., by full name. std::nullopt: the value is not a string.
using AnnotationValues = std::map<std::string, std::optional<std::string>, std::less<>>;

struct VolumeMountView {
  std::string name, mount_path;
};

// One of restartPolicyRules (KEP-5307).
struct RestartRuleView {
  std::string action;              // Restart...
  std::string exit_code_operator;  // In, NotIn
  std::vector<std::int64_t> exit_codes;

  // Whether the kubelet restarts the container after this code.
  bool restarts_after(int code) const;
};

// One of podFailurePolicy.rules with onExitCodes.
struct FailureRuleView {
  std::size_t index = 0;  // in podFailurePolicy.rules
  std::string action;     // FailJob, FailIndex, Ignore, Count
  std::string container;  // "": every container
  std::string exit_code_operator;
  std::vector<std::int64_t> exit_codes;

  bool applies_to(const std::string& container_name, int code) const;
};

struct ContainerView {
  std::string name, image;
  std::vector<std::string> command, args;
  bool has_args = false;  // also if none of them is a string
  std::vector<VolumeMountView> volume_mounts;
  std::vector<RestartRuleView> restart_rules;
  std::string restart_policy;  // of an init container; Always: a native sidecar
  std::string termination_message_path;
  bool has_post_start = false;
  bool has_liveness_probe = false;
  bool has_startup_probe = false;

  // What the kubelet starts; empty without a command: then it starts the image's ENTRYPOINT.
  std::vector<std::string> argv() const;
};

// The origin of a Job, which the Job itself does not contain.
struct JobOrigin {
  std::string path;  // before every field path in a message: "" or "spec.jobTemplate."
  std::string namespace_name;
  std::string cronjob;  // the owner's name; "": a Job without a CronJob
};

struct JobView {
  JobOrigin origin;
  AnnotationValues annotations;     // of the Job
  std::string scheduled_timestamp;  // as the CronJob controller wrote it; "": created by hand
  std::optional<std::int64_t> parallelism, completions, ttl_seconds_after_finished;
  std::string completion_mode;  // NonIndexed, Indexed; "": NonIndexed
  bool manual_selector = false;
  std::vector<FailureRuleView> failure_rules;
  std::optional<Millis> active_deadline;  // the shorter of the Job's and the pod's

  AnnotationValues pod_annotations;
  std::string default_container;  // annotation kubectl.kubernetes.io/default-container
  std::vector<ContainerView> containers, init_containers;
  std::vector<std::string> windows_fields;  // that require a Windows node
  bool host_network = false, host_pid = false;
  std::string dns_policy, runtime_class;
  std::optional<std::int64_t> termination_grace_period_seconds;
  // For EntrypointSource, which reads the placement and the pull secrets, and for the reserved
  // names. Valid as long as the Job.
  const kube::Json* pod_spec = nullptr;

  // Whether pods of the Job run at the same time, or after another one has succeeded.
  bool has_several_pods() const { return parallelism > 1 || completions > 1; }
  // Each pod does another part of the work, and has a completion index.
  bool has_indexed_pods() const { return has_several_pods() && completion_mode == "Indexed"; }

  // "spec.template.spec.containers[1]", as in the user's manifest.
  std::string container_path(std::size_t index) const;
  // "spec.template.spec." and the field.
  std::string pod_path(const std::string& field) const;
  std::string annotation_path(std::string_view name) const;
};

// `job` has the shape of a Job: metadata, spec. It outlives the view.
JobView parse_job(const kube::Json& job, JobOrigin origin);

// The annotations cronlatch.dev/... at this metadata.
AnnotationValues annotation_values(const kube::Json& object,
                                   std::initializer_list<std::string_view> metadata);

// The shorter of the Job's and the pod's activeDeadlineSeconds.
std::optional<Millis> active_deadline(const kube::Json& job);

// The CronJob that owns the Job, scheduled or created by hand; "" when none does.
std::string owning_cronjob(const kube::Json& job);

// The index of the item with this name.
std::optional<std::size_t> index_of_name(const std::vector<ContainerView>& items,
                                         std::string_view name);

}  // namespace cronlatch::op
