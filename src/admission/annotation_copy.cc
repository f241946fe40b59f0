// SPDX-License-Identifier: Apache-2.0
// Which keys below spec.jobTemplate are copies of ours, and which the user wrote there, is the
// whole difficulty: a copy follows its source, and what the user wrote is never touched.
#include "admission/annotation_copy.h"

#include <algorithm>

#include "admission/annotations.h"
#include "admission/job_restrictions.h"
#include "admission/lock_request.h"
#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr std::string_view kOurFieldManager = "cronlatch";

const Json* template_annotations(const Json& cronjob) {
  return kube::find(cronjob, {"spec", "jobTemplate", "metadata", "annotations"});
}

std::string copy_at(const Json& cronjob, const std::string& name) {
  const Json* const all = template_annotations(cronjob);
  return all == nullptr ? "" : kube::string_at(*all, {name});
}

bool has_copy(const Json& cronjob, const std::string& name) {
  const Json* const all = template_annotations(cronjob);
  return all != nullptr && kube::find(*all, {name}) != nullptr;
}

// Server-side apply notes who wrote which field, as kubectl apply notes the whole manifest. Our
// mark is in no manifest, so whoever owns the key and not the mark wrote the key himself.
bool applied_by_another(const Json& cronjob, const std::string& name) {
  const Json* const entries = kube::find(cronjob, {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return false;
  return std::any_of(entries->begin(), entries->end(), [&](const Json& entry) {
    if (kube::string_at(entry, {"operation"}) != "Apply" ||
        kube::string_at(entry, {"manager"}) == kOurFieldManager)
      return false;
    const Json* const owned =
        kube::find(entry, {"fieldsV1", "f:spec", "f:jobTemplate", "f:metadata", "f:annotations"});
    return owned != nullptr && kube::find(*owned, {"f:" + name}) != nullptr &&
           kube::find(*owned, {"f:" + std::string(kMirroredAnnotation)}) == nullptr;
  });
}

// The keys in the template that are copies of ours.
std::vector<std::string> copies(const Json& cronjob) {
  std::vector<std::string> keys = listed_keys(copy_at(cronjob, std::string(kMirroredAnnotation)));
  const std::string noted = kube::string_at(
      cronjob, {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  const Result<Json> manifest = kube::parse_json(noted.empty() ? "null" : noted);
  std::erase_if(keys, [&](const std::string& key) {
    const std::string name = std::string(kPrefix) + key;
    return (manifest.ok() && has_copy(*manifest, name)) || applied_by_another(cronjob, name);
  });
  return keys;
}

// Has this update changed the copy to something that we would not write? Then it is the user's from
// now on. (What we would write it already says when another hook has us asked a second time.)
bool is_edited(const Json& cronjob, const Json& before, const std::string& name,
               const AnnotationCopy& annotation_copy) {
  if (!has_copy(before, name) || !has_copy(cronjob, name)) return false;
  const std::string now = copy_at(cronjob, name);
  const auto wanted = annotation_copy.wanted.find(name);
  return now != copy_at(before, name) &&
         (wanted == annotation_copy.wanted.end() || wanted->second != now);
}

// How long a run of a CronJob with Replace waits, and where that comes from.
struct ReplaceWait {
  Millis limit;
  const char* source;
};
ReplaceWait replace_wait(const Json& cronjob, const LockRequest& request) {
  if (request.annotated.count("wait-timeout") != 0)
    return {request.options.wait_timeout, "cronlatch.dev/wait-timeout"};
  const Millis two_leases = 2 * request.options.ttl;
  const Json* const job_template = kube::find(cronjob, {"spec", "jobTemplate"});
  const std::optional<Millis> deadline =
      job_template == nullptr ? std::nullopt : active_deadline(*job_template);
  // A longer wait would end with the Job's deadline, which does not name the lock.
  if (deadline && two_leases >= *deadline)
    return {wait_within(*deadline), "half of activeDeadlineSeconds"};
  return {two_leases, "two leases"};
}

// Replace stops the predecessor while the new run starts: a skip would leave neither.
void add_for_replace(const Json& cronjob, const LockRequest& request,
                     std::map<std::string, std::string>& wanted,
                     std::vector<std::string>& warnings) {
  if (kube::string_at(cronjob, {"spec", "concurrencyPolicy"}) != "Replace") return;
  if (request.gate != Gate::on || request.annotated.count("on-busy") != 0) return;
  const ReplaceWait wait = replace_wait(cronjob, request);
  wanted["on-busy"] = "wait";
  if (request.annotated.count("wait-timeout") == 0)
    wanted["wait-timeout"] = show_duration(wait.limit);
  const std::string limit =
      wait.limit.count() == 0 ? "without a limit" : "at most " + show_duration(wait.limit);
  warnings.push_back("spec.concurrencyPolicy: Replace: a run waits for the lock, " + limit + " (" +
                     wait.source +
                     "), because its predecessor is being stopped and a skip would leave no run; "
                     "cronlatch.dev/on-busy and cronlatch.dev/wait-timeout change it");
}

std::string joined_keys(const std::map<std::string, std::string>& values) {
  std::string keys;
  for (const auto& [key, value] : values) keys += (keys.empty() ? "" : ",") + key;
  return keys;
}

// From what is wanted to what must change.
void compare(const Json& cronjob, const std::map<std::string, std::string>& values,
             const std::vector<std::string>& ours, AnnotationCopy& annotation_copy) {
  for (const auto& [key, value] : values)
    annotation_copy.wanted[std::string(kPrefix) + key] = value;
  if (!values.empty())
    annotation_copy.wanted[std::string(kMirroredAnnotation)] = joined_keys(values);
  for (const auto& [name, value] : annotation_copy.wanted)
    if (!has_copy(cronjob, name) || copy_at(cronjob, name) != value)
      annotation_copy.set[name] = value;
  for (const std::string& key : ours) {
    const std::string name = std::string(kPrefix) + key;
    if (values.count(key) == 0 && has_copy(cronjob, name)) annotation_copy.remove.push_back(name);
  }
  const std::string mark(kMirroredAnnotation);
  if (values.empty() && has_copy(cronjob, mark)) annotation_copy.remove.push_back(mark);
}

void warn(const Annotations& all, Gate gate, AnnotationCopy& annotation_copy) {
  const std::string lock(kLockAnnotation);
  if (gate != Gate::absent) return;
  if (std::find(annotation_copy.remove.begin(), annotation_copy.remove.end(), lock) !=
      annotation_copy.remove.end())
    annotation_copy.warnings.push_back(lock + " was removed: the runs are no longer gated");
  else if (!all.empty())
    annotation_copy.warnings.push_back(all.begin()->second.where + ": does nothing without " +
                                       example_of("lock"));
}

// With `ours` as the copies that may be overwritten and removed.
Result<AnnotationCopy> plan(const Json& cronjob, const Settings& settings,
                            const std::vector<std::string>& ours) {
  Findings findings;
  Annotations sources = annotations_at(cronjob, {"metadata"}, "metadata", findings);
  merge(sources,
        annotations_at(cronjob, {"spec", "jobTemplate", "spec", "template", "metadata"},
                       "spec.jobTemplate.spec.template.metadata", findings),
        findings);
  merge(sources, selected(settings, cronjob, findings), findings);
  Annotations native = annotations_at(cronjob, {"spec", "jobTemplate", "metadata"},
                                      "spec.jobTemplate.metadata", findings);
  for (const std::string& key : ours) native.erase(key);

  Annotations all = sources;
  merge(all, native, findings);
  const LockRequest request = read_lock_request(
      all, settings, kube::string_at(cronjob, {"metadata", "namespace"}), findings);
  if (!findings.empty()) return findings.error();

  AnnotationCopy annotation_copy;
  std::map<std::string, std::string> values;
  if (request.gate != Gate::absent) {
    for (const auto& [key, annotation] : sources)
      if (native.count(key) == 0) values[key] = annotation.value;
    add_for_replace(cronjob, request, values, annotation_copy.warnings);
  }
  annotation_copy.gated = request.gate == Gate::on;
  compare(cronjob, values, ours, annotation_copy);
  warn(all, request.gate, annotation_copy);
  return annotation_copy;
}

}  // namespace

Result<AnnotationCopy> annotation_copy(const Json& cronjob, const Json* before,
                                       const Settings& settings) {
  std::vector<std::string> ours = copies(cronjob);
  Result<AnnotationCopy> planned = plan(cronjob, settings, ours);
  if (!planned.ok() || before == nullptr) return planned;
  const auto edited = [&](const std::string& key) {
    return is_edited(cronjob, *before, std::string(kPrefix) + key, *planned);
  };
  if (std::erase_if(ours, edited) == 0) return planned;
  return plan(cronjob, settings, ours);
}

}  // namespace cronlatch::op
