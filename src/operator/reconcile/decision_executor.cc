// SPDX-License-Identifier: Apache-2.0
// Which answers of the API are worth another try, and which will be the same next time.
#include "operator/reconcile/decision_executor.h"

#include <algorithm>

#include "base/overloaded.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;

// The answer will be the same next time: the namespace is gone or going, or cannot take what we
// ask.
bool is_final(int status) {
  return status == kNotFound || status == kForbidden || status == 400 || status == 422;
}

// Is there now what we wrote? While replicas are replaced, the webhook of one with older settings
// may undo it; then the object is as it was, and no watch tells us.
bool took_effect(const Json& asked, const Json& got) {
  const std::initializer_list<std::string_view> path = {"spec", "jobTemplate", "metadata",
                                                        "annotations"};
  const Json* const wanted = kube::find(asked, path);
  const Json* const there = kube::find(got, path);
  if (wanted == nullptr || !wanted->is_object()) return true;
  return std::all_of(wanted->items().begin(), wanted->items().end(), [&](const auto& entry) {
    const Json* const now = there == nullptr ? nullptr : kube::find(*there, {entry.key()});
    return entry.value().is_null() ? now == nullptr : now != nullptr && *now == entry.value();
  });
}

std::string text_of(const kube::ObjectRef& ref) { return ref.namespace_name + "/" + ref.name; }

}  // namespace

ApplyResult DecisionExecutor::execute(const std::vector<Decision>& decisions) const {
  ApplyResult all = ApplyResult::done;
  for (const Decision& decision : decisions) {
    if (!parts_.election.leading()) return ApplyResult::again;
    const ApplyResult result =
        std::visit(Overloaded{[this](const PatchCronJob& patch) { return send(patch); },
                              [this](const kube::Event& event) { return send(event); },
                              [](const CountRunError&) { return ApplyResult::done; },
                              [](const CountUngated&) { return ApplyResult::done; }},
                   decision);
    if (result == ApplyResult::again) return result;
    if (result == ApplyResult::known) all = ApplyResult::known;
  }
  return all;
}

ApplyResult DecisionExecutor::send(const kube::Event& event) const {
  const auto answer = parts_.api.call(to_request(event, parts_.instance, parts_.clock.wall()));
  if (!answer) return ApplyResult::again;
  if (answer->ok()) return ApplyResult::done;
  if (answer->status == kConflict) return ApplyResult::known;
  // A namespace that is being deleted takes no Events: 403, for good.
  if (is_final(answer->status)) {
    parts_.log({Level::warn,
                "event_refused",
                "cannot tell an Event: " + answer->message(),
                {{"about", text_of(event.regarding)}, {"reason", std::string(event.reason)}}});
    return ApplyResult::done;
  }
  return ApplyResult::again;
}

// 409: the object has changed since, and the watch brings it. `again` keeps the kube::Event that
// would follow from being told.
ApplyResult DecisionExecutor::send(const PatchCronJob& patch) const {
  const auto answer = parts_.api.call(patch.request);
  const std::string& path = patch.request.path;
  if (answer && answer->ok() && !took_effect(patch.request.body, answer->body)) {
    parts_.log({Level::info,
                "mirror_undone",
                "somebody took back what was brought in line; trying again",
                {{"cronjob", path}, {"keys", patch.what}}});
    return ApplyResult::again;
  }
  if (answer && answer->ok()) {
    parts_.log({Level::info,
                "mirrored",
                "brought a CronJob's annotations in line",
                {{"cronjob", path}, {"keys", patch.what}}});
    return ApplyResult::done;
  }
  const std::string why = answer ? answer->message() : answer.error().message;
  if (!answer || answer->status != kConflict)
    parts_.log(
        {Level::warn, "not_mirrored", "cannot mirror annotations: " + why, {{"cronjob", path}}});
  return ApplyResult::again;
}

}  // namespace cronlatch::op
