// SPDX-License-Identifier: Apache-2.0
// CronJobs, Jobs and Events; pods are in pods.cc.
#include "plugin/objects.h"

#include "base/text.h"
#include "gated/gated_container.h"
#include "kube/container_argv.h"
#include "labels/gate_argv.h"
#include "labels/names.h"
#include "plugin/json_fields.h"

namespace cronlatch::plugin {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

void add_annotations(KeyValues& annotations, const Json& object, Path path) {
  const Json* const found = find(object, path);
  if (found == nullptr || !found->is_object()) return;
  for (const auto& [key, value] : found->items())
    if (key.starts_with(kPrefix) && value.is_string())
      annotations.try_emplace(key.substr(kPrefix.size()), value.get_ref<const std::string&>());
}

bool requests_lock_in(const KeyValues& annotations) {
  const auto lock = annotations.find("lock");
  return lock != annotations.end() && !lock->second.empty() && lock->second != "false";
}

KeyValues flags_of(const Json& container) {
  KeyValues flags = {{"run", "true"}};
  const auto argv = kube::argv_of(container);
  const auto gate = find_gate(argv);
  if (!gate) return {};
  for (std::size_t i = gate->begin + 2; i + 1 < gate->end; ++i) {
    const std::size_t equals = argv[i].find('=');
    if (!argv[i].starts_with("--")) continue;
    flags[argv[i].substr(2, equals == std::string::npos ? equals : equals - 2)] =
        equals == std::string::npos ? "true" : argv[i].substr(equals + 1);
  }
  return flags;
}

// Its command and args without the gate, which another webhook may have moved to args.
void add_gated(Job& job, const Json& container) {
  job.gated = true;
  job.container = string_at(container, {"name"});
  const auto argv = kube::argv_of(container);
  const std::size_t commands = kube::items_at(container, {"command"}).size();
  const auto gate = find_gate(argv);
  for (std::size_t i = 0; gate && i < argv.size(); ++i)
    if (i < gate->begin || i >= gate->end)
      (i < commands ? job.command : job.args).push_back(argv[i]);
  const KeyValues flags = flags_of(container);
  if (const auto by_arch = flags.find("command-by-arch"); by_arch != flags.end())
    job.command_by_arch = by_arch->second;
}

}  // namespace

const std::vector<Json>& items_of(const Json& list) { return kube::items_at(list, {"items"}); }

KeyValues gate_flags(const Json& pod_spec) {
  const Json* const container = gated_container(pod_spec);
  return container == nullptr ? KeyValues() : flags_of(*container);
}

bool CronJob::requests_lock() const { return requests_lock_in(annotations); }

std::string CronJob::lock() const {
  if (const auto flag = flags.find("lock"); flag != flags.end()) return flag->second;
  const auto setting = annotations.find("lock");
  if (!requests_lock()) return "";
  const auto scope = annotations.find("lock-scope");
  const bool cluster = scope != annotations.end() && scope->second == "cluster";
  const std::string own = setting->second == "true" ? name : setting->second;
  return (cluster ? std::string("_cluster") : namespace_name) + '/' + own;
}

CronJob read_cronjob(const Json& object) {
  CronJob cronjob;
  cronjob.namespace_name = string_at(object, {"metadata", "namespace"});
  cronjob.name = string_at(object, {"metadata", "name"});
  cronjob.uid = string_at(object, {"metadata", "uid"});
  cronjob.schedule = string_at(object, {"spec", "schedule"});
  cronjob.time_zone = string_at(object, {"spec", "timeZone"});
  cronjob.concurrency = string_at(object, {"spec", "concurrencyPolicy"});
  cronjob.suspended = kube::is_true(object, {"spec", "suspend"});
  if (find(object, {"spec", "startingDeadlineSeconds"}) != nullptr)
    cronjob.starting_deadline =
        Seconds(kube::number_at(object, {"spec", "startingDeadlineSeconds"}).value_or(0));
  cronjob.created = time_at(object, {"metadata", "creationTimestamp"});
  cronjob.last_scheduled = time_at(object, {"status", "lastScheduleTime"});
  cronjob.active = kube::items_at(object, {"status", "active"}).size();
  add_annotations(cronjob.job_annotations, object,
                  {"spec", "jobTemplate", "metadata", "annotations"});
  add_annotations(cronjob.job_annotations, object,
                  {"spec", "jobTemplate", "spec", "template", "metadata", "annotations"});
  add_annotations(cronjob.annotations, object, {"metadata", "annotations"});
  for (const auto& [key, value] : cronjob.job_annotations)
    cronjob.annotations.try_emplace(key, value);
  if (const Json* const pods = find(object, {"spec", "jobTemplate", "spec", "template", "spec"})) {
    cronjob.flags = gate_flags(*pods);
    for (const Json& container : kube::items_at(*pods, {"containers"}))
      if (!kube::items_at(container, {"args"}).empty())
        cronjob.with_args.insert(string_at(container, {"name"}));
  }
  return cronjob;
}

Job read_job(const Json& object) {
  Job job;
  job.namespace_name = string_at(object, {"metadata", "namespace"});
  job.name = string_at(object, {"metadata", "name"});
  job.uid = string_at(object, {"metadata", "uid"});
  job.cronjob = owner_name(object, "CronJob");
  job.scheduled = time_at(object, {"metadata", "annotations", kScheduledAnnotation});
  job.created = time_at(object, {"metadata", "creationTimestamp"});
  job.started = time_at(object, {"status", "startTime"});
  job.completed = time_at(object, {"status", "completionTime"});
  job.suspended = kube::is_true(object, {"spec", "suspend"});
  job.has_several_pods = kube::number_at(object, {"spec", "parallelism"}) > 1 ||
                         kube::number_at(object, {"spec", "completions"}) > 1;
  KeyValues annotations;
  add_annotations(annotations, object, {"metadata", "annotations"});
  add_annotations(annotations, object, {"spec", "template", "metadata", "annotations"});
  job.requests_lock = requests_lock_in(annotations);
  job.command_from =
      printable_at(object, {"spec", "template", "metadata", "annotations", kCommandFromAnnotation});
  if (const Json* const pods = find(object, {"spec", "template", "spec"}))
    if (const Json* const container = gated_container(*pods)) add_gated(job, *container);
  for (const Json& condition : kube::items_at(object, {"status", "conditions"})) {
    if (string_at(condition, {"status"}) != "True") continue;
    const std::string type = string_at(condition, {"type"});
    job.complete = job.complete || type == "Complete";
    if (type != "Failed") continue;
    job.failed = true;
    job.failure = printable_at(condition, {"reason"});
    job.message = printable_at(condition, {"message"});
  }
  return job;
}

ClusterEvent read_event(const Json& object) {
  ClusterEvent event;
  event.namespace_name = string_at(object, {"metadata", "namespace"});
  event.kind = string_at(object, {"involvedObject", "kind"});
  event.name = string_at(object, {"involvedObject", "name"});
  event.reason = printable_at(object, {"reason"});
  event.message = printable(string_at(object, {"message"}), 1'100);
  event.warning = string_at(object, {"type"}) == "Warning";
  for (const Path path :
       {Path{"series", "lastObservedTime"}, Path{"lastTimestamp"}, Path{"eventTime"},
        Path{"firstTimestamp"}, Path{"metadata", "creationTimestamp"}})
    if (!event.at) event.at = time_at(object, path);
  return event;
}

}  // namespace cronlatch::plugin
