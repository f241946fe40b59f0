// SPDX-License-Identifier: Apache-2.0
#include "admission/job_view.h"

#include <algorithm>

#include "admission/windows_pod.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

bool is_object_at(const Json& root, std::string_view key) {
  const Json* const value = kube::find(root, {key});
  return value != nullptr && value->is_object();
}

std::vector<std::int64_t> parse_codes(const Json& values) {
  std::vector<std::int64_t> codes;
  for (const Json& code : values)
    if (code.is_number_integer()) codes.push_back(code.get<std::int64_t>());
  return codes;
}

bool has_code(const std::string& exit_code_operator, const std::vector<std::int64_t>& codes,
              int code) {
  const bool listed = std::find(codes.begin(), codes.end(), code) != codes.end();
  return exit_code_operator == "In" ? listed : exit_code_operator == "NotIn" && !listed;
}

RestartRuleView parse_restart_rule(const Json& rule) {
  return {kube::string_at(rule, {"action"}), kube::string_at(rule, {"exitCodes", "operator"}),
          parse_codes(kube::items_at(rule, {"exitCodes", "values"}))};
}

std::vector<FailureRuleView> parse_failure_rules(const Json& job) {
  std::vector<FailureRuleView> rules;
  std::size_t index = 0;
  for (const Json& rule : kube::items_at(job, {"spec", "podFailurePolicy", "rules"})) {
    if (is_object_at(rule, "onExitCodes"))
      rules.push_back({index, kube::string_at(rule, {"action"}),
                       kube::string_at(rule, {"onExitCodes", "containerName"}),
                       kube::string_at(rule, {"onExitCodes", "operator"}),
                       parse_codes(kube::items_at(rule, {"onExitCodes", "values"}))});
    ++index;
  }
  return rules;
}

ContainerView parse_container(const Json& container) {
  ContainerView view;
  view.name = kube::string_at(container, {"name"});
  view.image = kube::string_at(container, {"image"});
  view.command = kube::strings_at(container, {"command"});
  view.args = kube::strings_at(container, {"args"});
  view.has_args = !kube::items_at(container, {"args"}).empty();
  for (const Json& mount : kube::items_at(container, {"volumeMounts"}))
    view.volume_mounts.push_back(
        {kube::string_at(mount, {"name"}), kube::string_at(mount, {"mountPath"})});
  for (const Json& rule : kube::items_at(container, {"restartPolicyRules"}))
    view.restart_rules.push_back(parse_restart_rule(rule));
  view.restart_policy = kube::string_at(container, {"restartPolicy"});
  view.termination_message_path = kube::string_at(container, {"terminationMessagePath"});
  const Json* const post_start = kube::find(container, {"lifecycle", "postStart"});
  view.has_post_start = post_start != nullptr && !post_start->is_null();
  view.has_liveness_probe = is_object_at(container, "livenessProbe");
  view.has_startup_probe = is_object_at(container, "startupProbe");
  return view;
}

std::vector<ContainerView> parse_containers(const Json& pod, std::string_view key) {
  std::vector<ContainerView> views;  // one for each item, so that the indexes are those of the Job
  for (const Json& container : kube::items_at(pod, {key}))
    views.push_back(parse_container(container));
  return views;
}

void parse_pod(const Json& pod, JobView& view) {
  view.containers = parse_containers(pod, "containers");
  view.init_containers = parse_containers(pod, "initContainers");
  view.windows_fields = windows_fields(pod);
  view.host_network = kube::is_true(pod, {"hostNetwork"});
  view.host_pid = kube::is_true(pod, {"hostPID"});
  view.runtime_class = kube::string_at(pod, {"runtimeClassName"});
  view.dns_policy = kube::string_at(pod, {"dnsPolicy"});
  view.termination_grace_period_seconds = kube::number_at(pod, {"terminationGracePeriodSeconds"});
}

}  // namespace

bool RestartRuleView::restarts_after(int code) const {
  return action.starts_with("Restart") && has_code(exit_code_operator, exit_codes, code);
}

bool FailureRuleView::applies_to(const std::string& container_name, int code) const {
  return (container.empty() || container == container_name) &&
         has_code(exit_code_operator, exit_codes, code);
}

std::vector<std::string> ContainerView::argv() const {
  std::vector<std::string> argv = command;
  if (!argv.empty()) argv.insert(argv.end(), args.begin(), args.end());
  return argv;
}

std::string JobView::container_path(std::size_t index) const {
  return pod_path("containers[" + std::to_string(index) + "]");
}

std::string JobView::pod_path(const std::string& field) const {
  return origin.path + "spec.template.spec." + field;
}

std::string JobView::annotation_path(std::string_view name) const {
  return origin.path + "metadata.annotations[" + std::string(name) + "]";
}

JobView parse_job(const Json& job, JobOrigin origin) {
  static const Json kNoSpec = Json::object();
  JobView view;
  view.origin = std::move(origin);
  view.annotations = annotation_values(job, {"metadata"});
  view.scheduled_timestamp =
      kube::string_at(job, {"metadata", "annotations", kScheduledAnnotation});
  view.parallelism = kube::number_at(job, {"spec", "parallelism"});
  view.completions = kube::number_at(job, {"spec", "completions"});
  view.completion_mode = kube::string_at(job, {"spec", "completionMode"});
  view.ttl_seconds_after_finished = kube::number_at(job, {"spec", "ttlSecondsAfterFinished"});
  view.manual_selector = kube::is_true(job, {"spec", "manualSelector"});
  view.failure_rules = parse_failure_rules(job);
  view.active_deadline = active_deadline(job);
  view.pod_annotations = annotation_values(job, {"spec", "template", "metadata"});
  view.default_container = kube::string_at(job, {"spec", "template", "metadata", "annotations",
                                                 "kubectl.kubernetes.io/default-container"});
  const Json* const pod = kube::find(job, {"spec", "template", "spec"});
  view.pod_spec = pod != nullptr && pod->is_object() ? pod : &kNoSpec;
  parse_pod(*view.pod_spec, view);
  return view;
}

AnnotationValues annotation_values(const Json& object,
                                   std::initializer_list<std::string_view> metadata) {
  AnnotationValues values;
  const Json* const holder = kube::find(object, metadata);
  const Json* const all = holder == nullptr ? nullptr : kube::find(*holder, {"annotations"});
  if (all == nullptr || !all->is_object()) return values;
  for (const auto& [name, value] : all->items())
    if (name.starts_with(kPrefix))
      values[name] = value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
  return values;
}

std::optional<Millis> active_deadline(const Json& job) {
  std::optional<Millis> shortest;
  for (const auto& seconds :
       {kube::number_at(job, {"spec", "activeDeadlineSeconds"}),
        kube::number_at(job, {"spec", "template", "spec", "activeDeadlineSeconds"})}) {
    constexpr std::int64_t kMaxSeconds = 3'155'760'000;  // 100 years
    if (!seconds || *seconds < 0 || *seconds > kMaxSeconds) continue;
    const Millis deadline{*seconds * 1000};
    if (!shortest || deadline < *shortest) shortest = deadline;
  }
  return shortest;
}

std::string owning_cronjob(const Json& job) {
  for (const Json& owner : kube::items_at(job, {"metadata", "ownerReferences"}))
    if (kube::string_at(owner, {"kind"}) == "CronJob" &&
        kube::string_at(owner, {"apiVersion"}).starts_with("batch/"))
      return kube::string_at(owner, {"name"});
  return "";
}

std::optional<std::size_t> index_of_name(const std::vector<ContainerView>& items,
                                         std::string_view name) {
  const auto at =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  if (at == items.end()) return std::nullopt;
  return static_cast<std::size_t>(at - items.begin());
}

}  // namespace cronlatch::op
