// SPDX-License-Identifier: Apache-2.0
#include "plugin/objects.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/text.h"

namespace cronlatch::plugin {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

using Path = std::initializer_list<std::string_view>;

constexpr std::size_t kLongestShown = 300;

const std::vector<Json>& array_at(const Json& object, Path path) {
  static const std::vector<Json> kNone;
  const Json* const array = find(object, path);
  return array != nullptr && array->is_array() ? array->get_ref<const std::vector<Json>&>() : kNone;
}

std::vector<std::string> strings_at(const Json& object, Path path) {
  std::vector<std::string> out;
  for (const Json& item : array_at(object, path))
    if (item.is_string()) out.push_back(item.get_ref<const std::string&>());
  return out;
}

std::int64_t number_at(const Json& object, Path path) {
  const Json* const value = find(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

bool is_true(const Json& object, Path path) {
  const Json* const value = find(object, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string shown(const Json& object, Path path) {
  return printable(string_at(object, path), kLongestShown);
}

std::optional<WallTime> time_at(const Json& object, Path path) {
  return parse_time(string_at(object, path));
}

void add_wishes(Texts& wishes, const Json& object, Path path) {
  const Json* const annotations = find(object, path);
  if (annotations == nullptr || !annotations->is_object()) return;
  for (const auto& [key, value] : annotations->items())
    if (key.starts_with(kPrefix) && value.is_string())
      wishes.try_emplace(key.substr(kPrefix.size()), value.get_ref<const std::string&>());
}

std::string owner(const Json& object, std::string_view kind) {
  for (const Json& item : array_at(object, {"metadata", "ownerReferences"}))
    if (is_true(item, {"controller"}) && string_at(item, {"kind"}) == kind)
      return string_at(item, {"name"});
  return "";
}

bool says_yes(const Texts& wishes) {
  const auto lock = wishes.find("lock");
  return lock != wishes.end() && !lock->second.empty() && lock->second != "false";
}

const Json* status_of(const Json& pod, std::string_view list, const std::string& container) {
  for (const Json& status : array_at(pod, {"status", list}))
    if (string_at(status, {"name"}) == container) return &status;
  return nullptr;
}

// What a container that has not started says about it. Being next in line is no trouble.
void note_waiting(const Json& status, Pod& pod) {
  const std::string reason = shown(status, {"state", "waiting", "reason"});
  if (reason.empty() || reason == "PodInitializing" || reason == "ContainerCreating") return;
  if (!pod.waiting.empty()) return;
  pod.waiting = reason;
  pod.waiting_message = shown(status, {"state", "waiting", "message"});
  pod.waiting_container = shown(status, {"name"});
}

void note_init(const Json& status, Pod& pod) {
  note_waiting(status, pod);
  for (const std::string_view state : {"state", "lastState"}) {
    const Json* const end = find(status, {state, "terminated"});
    if (end == nullptr || number_at(*end, {"exitCode"}) == 0 || !pod.init_failed.empty()) continue;
    pod.init_failed = shown(status, {"name"}) + ": exit code " +
                      std::to_string(number_at(*end, {"exitCode"})) + " (" +
                      shown(*end, {"reason"}) + ")";
  }
}

void read_end(const Json& terminated, Pod& pod) {
  pod.ended = true;
  pod.exit_code =
      static_cast<int>(std::clamp<std::int64_t>(number_at(terminated, {"exitCode"}), 0, 255));
  pod.end_reason = shown(terminated, {"reason"});
  pod.finished = time_at(terminated, {"finishedAt"});
  pod.running_since = time_at(terminated, {"startedAt"});
  pod.left = read_left(string_at(terminated, {"message"}));
}

void read_gated_status(const Json& status, Pod& pod) {
  note_waiting(status, pod);
  if (find(status, {"state", "running"}) != nullptr) {
    pod.running = true;
    pod.running_since = time_at(status, {"state", "running", "startedAt"});
  }
  if (const Json* const end = find(status, {"state", "terminated"}))
    read_end(*end, pod);
  else if (const Json* const before = find(status, {"lastState", "terminated"});
           !pod.running && before)
    read_end(*before, pod);
}

}  // namespace

const std::vector<Json>& items_of(const Json& list) { return array_at(list, {"items"}); }

std::optional<WallTime> parse_time(std::string_view text) {
  if (text.size() < 20 || text.size() > 40) return std::nullopt;
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, used = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi, &s, &used) != 6)
    return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(used));
  std::int64_t micros = 0, unit = 100'000;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1), unit /= 10)
      micros += (rest[0] - '0') * unit;
  }
  std::int64_t east = 0;
  if (rest != "Z" && rest != "z") {
    char sign = 0;
    int oh = 0, om = 0;
    if (std::sscanf(std::string(rest).c_str(), "%c%2d:%2d", &sign, &oh, &om) != 3 ||
        (sign != '+' && sign != '-'))
      return std::nullopt;
    east = (sign == '-' ? -1 : 1) * (oh * 3'600 + om * 60);
  }
  using namespace std::chrono;
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)},
                            day{static_cast<unsigned>(d)}};
  if (!date.ok() || h > 24 || mi > 59 || s > 60) return std::nullopt;
  const std::int64_t seconds =
      std::int64_t{sys_days{date}.time_since_epoch().count()} * 86'400 + h * 3'600 + mi * 60 + s;
  return WallTime{(seconds - east) * 1'000'000 + micros};
}

const Json* gated_container(const Json& pod_spec) {
  for (const Json& container : array_at(pod_spec, {"containers"})) {
    const auto command = strings_at(container, {"command"});
    if (!command.empty() && command.front() == kBinary) return &container;
  }
  return nullptr;
}

Texts gate_flags(const Json& pod_spec) {
  Texts flags;
  const Json* const container = gated_container(pod_spec);
  if (container == nullptr) return flags;
  const auto command = strings_at(*container, {"command"});
  flags["run"] = "true";
  for (std::size_t i = 2; i < command.size() && command[i] != "--"; ++i) {
    const std::size_t equals = command[i].find('=');
    if (!command[i].starts_with("--")) continue;
    flags[command[i].substr(2, equals == std::string::npos ? equals : equals - 2)] =
        equals == std::string::npos ? "true" : command[i].substr(equals + 1);
  }
  return flags;
}

bool CronJob::wants_lock() const { return says_yes(wishes); }

std::string CronJob::lock() const {
  if (const auto flag = flags.find("lock"); flag != flags.end()) return flag->second;
  const auto wish = wishes.find("lock");
  if (!wants_lock()) return "";
  const auto scope = wishes.find("lock-scope");
  const bool cluster = scope != wishes.end() && scope->second == "cluster";
  const std::string own = wish->second == "true" ? name : wish->second;
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
  cronjob.suspended = is_true(object, {"spec", "suspend"});
  if (find(object, {"spec", "startingDeadlineSeconds"}) != nullptr)
    cronjob.starting_deadline = Seconds(number_at(object, {"spec", "startingDeadlineSeconds"}));
  cronjob.created = time_at(object, {"metadata", "creationTimestamp"});
  cronjob.last_scheduled = time_at(object, {"status", "lastScheduleTime"});
  cronjob.active = array_at(object, {"status", "active"}).size();
  add_wishes(cronjob.mirrored, object, {"spec", "jobTemplate", "metadata", "annotations"});
  add_wishes(cronjob.mirrored, object,
             {"spec", "jobTemplate", "spec", "template", "metadata", "annotations"});
  add_wishes(cronjob.wishes, object, {"metadata", "annotations"});
  for (const auto& [key, value] : cronjob.mirrored) cronjob.wishes.try_emplace(key, value);
  if (const Json* const pods = find(object, {"spec", "jobTemplate", "spec", "template", "spec"}))
    cronjob.flags = gate_flags(*pods);
  return cronjob;
}

Job read_job(const Json& object) {
  Job job;
  job.namespace_name = string_at(object, {"metadata", "namespace"});
  job.name = string_at(object, {"metadata", "name"});
  job.uid = string_at(object, {"metadata", "uid"});
  job.cronjob = owner(object, "CronJob");
  job.scheduled = time_at(object, {"metadata", "annotations", kScheduledAnnotation});
  job.created = time_at(object, {"metadata", "creationTimestamp"});
  job.started = time_at(object, {"status", "startTime"});
  job.completed = time_at(object, {"status", "completionTime"});
  job.suspended = is_true(object, {"spec", "suspend"});
  Texts wishes;
  add_wishes(wishes, object, {"metadata", "annotations"});
  add_wishes(wishes, object, {"spec", "template", "metadata", "annotations"});
  job.wants_lock = says_yes(wishes);
  if (const Json* const pods = find(object, {"spec", "template", "spec"}))
    job.gated = gated_container(*pods) != nullptr;
  for (const Json& condition : array_at(object, {"status", "conditions"})) {
    if (string_at(condition, {"status"}) != "True") continue;
    const std::string type = string_at(condition, {"type"});
    job.complete = job.complete || type == "Complete";
    if (type != "Failed") continue;
    job.failed = true;
    job.failure = shown(condition, {"reason"});
    job.message = shown(condition, {"message"});
  }
  return job;
}

Left read_left(std::string_view text) {
  constexpr std::size_t kLongest = 4'096;  // what the kubelet keeps
  Left left;
  const auto message = kube::parse_json(text, {.bytes = kLongest, .depth = 4});
  if (!message || number_at(*message, {"v"}) != 1) return left;
  const std::string kind = string_at(*message, {"outcome"});
  for (const KindRow& row : kind_table())
    if (row.name == kind) left.kind = row.kind;
  const std::string reason = string_at(*message, {"reason"});
  for (const ReasonRow& row : reason_table())
    if (row.name == reason) left.reason = row.reason;
  left.lock = shown(*message, {"lock"});
  left.holder = shown(*message, {"holder"});
  left.fence = shown(*message, {"fence"});
  left.since = shown(*message, {"since"});
  left.until = shown(*message, {"until"});
  left.stole = is_true(*message, {"stolen"});
  left.waited = Millis(std::max<std::int64_t>(number_at(*message, {"waited_ms"}), 0));
  left.held = Millis(std::max<std::int64_t>(number_at(*message, {"held_ms"}), 0));
  return left;
}

Pod read_pod(const Json& object) {
  Pod pod;
  pod.namespace_name = string_at(object, {"metadata", "namespace"});
  pod.name = string_at(object, {"metadata", "name"});
  pod.job = owner(object, "Job");
  pod.node = string_at(object, {"spec", "nodeName"});
  pod.phase = shown(object, {"status", "phase"});
  pod.reason = shown(object, {"status", "reason"});
  pod.message = shown(object, {"status", "message"});
  pod.created = time_at(object, {"metadata", "creationTimestamp"});
  pod.deleting = !string_at(object, {"metadata", "deletionTimestamp"}).empty();
  if (const Json* const spec = find(object, {"spec"})) {
    pod.flags = gate_flags(*spec);
    if (const Json* const container = gated_container(*spec))
      pod.container = string_at(*container, {"name"});
  }
  for (const Json& condition : array_at(object, {"status", "conditions"}))
    if (string_at(condition, {"type"}) == "PodScheduled" &&
        string_at(condition, {"status"}) == "False")
      pod.unscheduled = shown(condition, {"message"});
  for (const Json& status : array_at(object, {"status", "initContainerStatuses"}))
    note_init(status, pod);
  if (const Json* const status = status_of(object, "containerStatuses", pod.container))
    read_gated_status(*status, pod);
  return pod;
}

Event read_event(const Json& object) {
  Event event;
  event.namespace_name = string_at(object, {"metadata", "namespace"});
  event.kind = string_at(object, {"involvedObject", "kind"});
  event.name = string_at(object, {"involvedObject", "name"});
  event.reason = shown(object, {"reason"});
  event.message = printable(string_at(object, {"message"}), 1'100);
  event.warning = string_at(object, {"type"}) == "Warning";
  for (const Path path :
       {Path{"series", "lastObservedTime"}, Path{"lastTimestamp"}, Path{"eventTime"},
        Path{"firstTimestamp"}, Path{"metadata", "creationTimestamp"}})
    if (!event.at) event.at = time_at(object, path);
  return event;
}

}  // namespace cronlatch::plugin
