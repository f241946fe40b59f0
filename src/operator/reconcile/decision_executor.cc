// SPDX-License-Identifier: Apache-2.0
// Which answers of the API are final, and which are retried.
#include "operator/reconcile/decision_executor.h"

#include <algorithm>

#include "base/overloaded.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr int kConflict = 409;

// By admission, for example because the Job template cannot be gated, or because of missing rights.
bool is_refusal(int status) { return status == 400 || status == 403 || status == 422; }

// Whether the answer contains the patched annotations. During an update, the webhook of a replica
// with older settings may revert the patch. The object is then unchanged, and no watch reports it.
bool took_effect(const Json& asked, const Json& got) {
  const std::initializer_list<std::string_view> path = {"spec", "jobTemplate", "metadata",
                                                        "annotations"};
  const Json* const is_enabled = kube::find(asked, path);
  const Json* const there = kube::find(got, path);
  if (is_enabled == nullptr || !is_enabled->is_object()) return true;
  return std::all_of(
      is_enabled->items().begin(), is_enabled->items().end(), [&](const auto& entry) {
        const Json* const now = there == nullptr ? nullptr : kube::find(*there, {entry.key()});
        return entry.value().is_null() ? now == nullptr : now != nullptr && *now == entry.value();
      });
}

}  // namespace

ApplyResult DecisionExecutor::execute(const std::vector<Decision>& decisions) const {
  ApplyResult all = ApplyResult::done;
  for (const Decision& decision : decisions) {
    if (abandoned_ || !deps_.election.leading()) return ApplyResult::retry;
    const ApplyResult result = std::visit(
        Overloaded{
            [this](const PatchCronJob& patch) { return send(patch); },
            [this](const kube::Event& event) { return deps_.events.record(deps_.api, event); },
            [](const CountRunError&) { return ApplyResult::done; },
            [](const CountUngatedJob&) { return ApplyResult::done; }},
        decision);
    if (result == ApplyResult::retry) return result;
    if (result == ApplyResult::already_exists) all = ApplyResult::already_exists;
  }
  return all;
}

// 409: the object has changed, and the watch delivers it. `retry` prevents the Event that follows
// the patch.
ApplyResult DecisionExecutor::send(const PatchCronJob& patch) const {
  const auto answer = deps_.api.call(patch.request);
  const std::string& path = patch.request.path;
  if (answer && answer->ok() && !took_effect(patch.request.body, answer->body)) {
    deps_.log({Level::info,
               "mirror_undone",
               "another client or webhook reverted the copied annotations; retrying",
               {{"cronjob", path}, {"keys", patch.what}}});
    return ApplyResult::retry;
  }
  if (answer && answer->ok()) {
    deps_.log({Level::info,
               "mirrored",
               "copied the annotations of a CronJob",
               {{"cronjob", path}, {"keys", patch.what}}});
    return ApplyResult::done;
  }
  const std::string why = answer ? answer->message() : answer.error().message;
  if (!answer || answer->status != kConflict)
    deps_.log(
        {Level::warn, "not_mirrored", "cannot copy annotations: " + why, {{"cronjob", path}}});
  if (answer && is_refusal(answer->status)) record_refusal(patch, why);
  return ApplyResult::retry;
}

// The next retry records it again, so the result of this attempt does not matter.
void DecisionExecutor::record_refusal(const PatchCronJob& patch, const std::string& why) const {
  static_cast<void>(deps_.events.record(
      deps_.api,
      kube::Event{.regarding = patch.cronjob,
                  .identity = why,
                  .type = kube::EventType::warning,
                  .reason = "NotMirrored",
                  .action = "Mirror",
                  .note = "new Jobs do not follow the annotations of this CronJob (" + patch.what +
                          "): the API server refuses the copies in "
                          "spec.jobTemplate.metadata.annotations: " +
                          why}));
}

}  // namespace cronlatch::op
