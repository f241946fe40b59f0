// SPDX-License-Identifier: Apache-2.0
// An annotation of spec.jobTemplate is either a copy or the user's own. A copy follows its source;
// the user's own is never changed.
#include "admission/annotation_copy.h"

#include <algorithm>
#include <set>

#include "admission/annotations.h"
#include "admission/job_restrictions.h"
#include "admission/lock_request.h"
#include "base/text.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kReplacePath[] = "spec.concurrencyPolicy";

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

// Server-side apply records the manager of each field. No user's manifest has
// cronlatch.dev/mirrored, so a manager that owns the key without it wrote the key itself.
bool applied_by_another(const Json& cronjob, const std::string& name) {
  const Json* const entries = kube::find(cronjob, {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return false;
  return std::any_of(entries->begin(), entries->end(), [&](const Json& entry) {
    if (kube::string_at(entry, {"operation"}) != "Apply" ||
        kube::string_at(entry, {"manager"}) == kFieldManager)
      return false;
    const Json* const owned =
        kube::find(entry, {"fieldsV1", "f:spec", "f:jobTemplate", "f:metadata", "f:annotations"});
    return owned != nullptr && kube::find(*owned, {"f:" + name}) != nullptr &&
           kube::find(*owned, {"f:" + std::string(kCopiedKeysAnnotation)}) == nullptr;
  });
}

// The keys of the Job template that are in a user's manifest: they are the user's own. A manifest
// can name a key that the object lacks, for example after `kubectl edit`.
class ManifestKeys {
 public:
  explicit ManifestKeys(const Json& cronjob) : cronjob_(cronjob) {
    const std::string applied = kube::string_at(
        cronjob, {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
    Result<Json> manifest = kube::parse_json(applied.empty() ? "null" : applied);
    if (manifest.ok()) last_applied_ = std::move(*manifest);
  }
  bool contain(const std::string& key) const {
    const std::string name = std::string(kPrefix) + key;
    return has_copy(last_applied_, name) || applied_by_another(cronjob_, name);
  }

 private:
  const Json& cronjob_;
  Json last_applied_;
};

// The keys in the Job template that are copies.
std::vector<std::string> keys_of_copies(const Json& cronjob, const ManifestKeys& manifest) {
  std::vector<std::string> keys = copied_keys(copy_at(cronjob, std::string(kCopiedKeysAnnotation)));
  std::erase_if(keys, [&](const std::string& key) { return manifest.contain(key); });
  return keys;
}

// Whether this update changed the copy to another value than the wanted one. Then it is the user's
// from now on. (The wanted value is there when this webhook is called a second time for a request.)
bool is_edited(const Json& cronjob, const Json& before, const std::string& name,
               const AnnotationCopy& copy) {
  if (!has_copy(before, name) || !has_copy(cronjob, name)) return false;
  const std::string now = copy_at(cronjob, name);
  const auto wanted = copy.wanted.find(name);
  return now != copy_at(before, name) && (wanted == copy.wanted.end() || wanted->second != now);
}

// How long a run of a CronJob with Replace waits, and the source of that limit.
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
  // A longer wait would end at the Job's deadline, whose reason does not name the lock.
  if (deadline && two_leases >= *deadline)
    return {max_wait_within(*deadline), "half of activeDeadlineSeconds"};
  return {two_leases, "twice the ttl"};
}

// What the Job template gets, by key: values with a source, and those for Replace.
struct Values {
  std::map<std::string, std::string> all;
  std::set<std::string> unlisted;  // not listed in cronlatch.dev/mirrored

  // A key of a user's manifest is copied only while it is missing, and then is the user's own:
  // listed as a copy, it would leave the list at the next admission.
  void set(const std::string& key, const std::string& value, bool is_listed) {
    all[key] = value;
    if (!is_listed) unlisted.insert(key);
  }
  std::string listed() const {
    std::string keys;
    for (const auto& [key, value] : all)
      if (unlisted.count(key) == 0) keys += (keys.empty() ? "" : ",") + key;
    return keys;
  }
};

// Replace stops the previous run when it starts the new one: a skip would leave no run.
void add_for_replace(const Json& cronjob, const LockRequest& request, const ManifestKeys& manifest,
                     Values& values, AnnotationCopy& copy) {
  if (kube::string_at(cronjob, {"spec", "concurrencyPolicy"}) != "Replace") return;
  if (request.gate != Gate::on || request.annotated.count("on-busy") != 0) return;
  const ReplaceWait wait = replace_wait(cronjob, request);
  // Where on-busy is the user's own, nothing is added at the next admission: no value may then be a
  // copy without a source.
  const bool is_listed = !manifest.contain("on-busy");
  values.set("on-busy", "wait", is_listed);
  copy.annotations["on-busy"] = {"wait", kReplacePath};
  if (request.annotated.count("wait-timeout") == 0) {
    values.set("wait-timeout", show_duration(wait.limit),
               is_listed && !manifest.contain("wait-timeout"));
    copy.annotations["wait-timeout"] = {show_duration(wait.limit), kReplacePath};
  }
  const std::string limit =
      wait.limit.count() == 0 ? "without a limit" : "at most " + show_duration(wait.limit);
  copy.warnings.push_back({kReplacePath,
                           "with Replace a run waits for the lock, " + limit + " (" + wait.source +
                               "), because a skip would leave no run",
                           "to change this, write cronlatch.dev/on-busy or "
                           "cronlatch.dev/wait-timeout"});
}

// Sets what must change to get the wanted annotations.
void set_changes(const Json& cronjob, const Values& values, const std::vector<std::string>& copies,
                 AnnotationCopy& copy) {
  const std::string mark(kCopiedKeysAnnotation);
  const std::string listed = values.listed();
  for (const auto& [key, value] : values.all) copy.wanted[std::string(kPrefix) + key] = value;
  if (!listed.empty()) copy.wanted[mark] = listed;
  for (const auto& [name, value] : copy.wanted)
    if (!has_copy(cronjob, name) || copy_at(cronjob, name) != value) copy.set[name] = value;
  for (const std::string& key : copies) {
    const std::string name = std::string(kPrefix) + key;
    if (values.all.count(key) == 0 && has_copy(cronjob, name)) copy.remove.push_back(name);
  }
  if (listed.empty() && has_copy(cronjob, mark)) copy.remove.push_back(mark);
}

void warn(const Annotations& all, Gate gate, AnnotationCopy& copy) {
  const std::string lock(kLockAnnotation);
  if (gate != Gate::absent) return;
  if (std::find(copy.remove.begin(), copy.remove.end(), lock) != copy.remove.end())
    copy.warnings.push_back({lock, "it was removed, so new Jobs of this CronJob are not gated",
                             "to gate them, write " + example_of("lock")});
  else if (!all.empty())
    copy.warnings.push_back({all.begin()->second.where,
                             "has no effect, because the CronJob requests no lock",
                             "write " + example_of("lock")});
}

// `copies` are the keys that may be overwritten and removed.
AnnotationCopy plan(const Json& cronjob, const Settings& settings, const ManifestKeys& manifest,
                    const std::vector<std::string>& copies, Findings& findings) {
  Annotations sources = annotations_at(cronjob, {"metadata"}, "metadata", findings);
  merge(sources,
        annotations_at(cronjob, {"spec", "jobTemplate", "spec", "template", "metadata"},
                       "spec.jobTemplate.spec.template.metadata", findings),
        findings);
  merge(sources, selected_annotations(settings, cronjob, findings), findings);
  Annotations own = annotations_at(cronjob, {"spec", "jobTemplate", "metadata"},
                                   "spec.jobTemplate.metadata", findings);
  for (const std::string& key : copies) own.erase(key);

  Annotations all = sources;
  merge(all, own, findings);
  const LockRequest request = read_lock_request(
      all, settings, kube::string_at(cronjob, {"metadata", "namespace"}), findings);

  AnnotationCopy copy;
  copy.annotations = all;
  Values values;
  if (request.gate != Gate::absent) {
    for (const auto& [key, annotation] : sources)
      if (own.count(key) == 0) values.set(key, annotation.value, !manifest.contain(key));
    add_for_replace(cronjob, request, manifest, values, copy);
  }
  copy.gated = request.gate == Gate::on;
  set_changes(cronjob, values, copies, copy);
  warn(all, request.gate, copy);
  return copy;
}

}  // namespace

AnnotationCopy plan_annotation_copy(const Json& cronjob, const Json* before,
                                    const Settings& settings, Findings& findings) {
  const ManifestKeys manifest(cronjob);
  std::vector<std::string> copies = keys_of_copies(cronjob, manifest);
  Findings first;
  AnnotationCopy planned = plan(cronjob, settings, manifest, copies, first);
  const auto edited = [&](const std::string& key) {
    return is_edited(cronjob, *before, std::string(kPrefix) + key, planned);
  };
  const bool is_final = !first.empty() || before == nullptr || std::erase_if(copies, edited) == 0;
  if (!is_final) return plan(cronjob, settings, manifest, copies, findings);
  for (const Finding& finding : first.list()) findings.add(finding);
  return planned;
}

Result<AnnotationCopy> plan_annotation_copy(const Json& cronjob, const Json* before,
                                            const Settings& settings) {
  Findings findings;
  AnnotationCopy planned = plan_annotation_copy(cronjob, before, settings, findings);
  if (!findings.empty()) return findings.error();
  return planned;
}

}  // namespace cronlatch::op
