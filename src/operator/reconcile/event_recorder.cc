// SPDX-License-Identifier: Apache-2.0
// Which answers of the API are final, and which are retried.
#include "operator/reconcile/event_recorder.h"

#include <algorithm>
#include <utility>

#include "labels/event_reasons.h"

namespace cronlatch::op {
namespace {

using Answer = EventSeries::Answer;
using Limit = EventSeries::Limit;
using Write = EventSeries::Write;

constexpr int kNotFound = 404;
constexpr int kConflict = 409;
// Of one call of record(): the Event exists, then it does not, and so on.
constexpr int kMaxRequests = 32;

// A retry has the same result: the namespace is deleted or is being deleted (403), or the object is
// invalid.
bool is_final(int status) {
  return status == kNotFound || status == 403 || status == 400 || status == 422;
}

std::string_view label_of(Limit limit) {
  switch (limit) {
    case Limit::object:
      return "object";
    case Limit::namespace_:
      return "namespace";
    case Limit::all:
      return "all";
  }
  return "";
}

}  // namespace

EventRecorder::EventRecorder(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      series_(static_cast<double>(deps_.settings.events_per_second)) {
  for (const std::string_view by : {"skip", "object", "namespace", "all"})
    deps_.metrics.count(kEventsSuppressed, {{"by", std::string(by)}}, 0);
}

ApplyResult EventRecorder::record(kube::Api& api, const kube::Event& event) {
  if (event_reason(event.reason).is_required) return create_required(api, event);
  const auto& skip = deps_.settings.events_skip;
  if (std::find(skip.begin(), skip.end(), event.reason) != skip.end()) {
    suppressed("skip");
    return ApplyResult::done;
  }
  EventSeries::Plan plan;
  {
    const std::lock_guard lock(mutex_);
    plan = series_.occurred(event, deps_.clock.now());
  }
  for (int requests = 0; const auto* const next = std::get_if<Write>(&plan); ++requests) {
    const Write write = *next;
    const Answer answer = requests < kMaxRequests ? send(api, write) : Answer::failed;
    const std::lock_guard lock(mutex_);
    plan = series_.answered(write, answer, deps_.clock.now());
    if (answer == Answer::failed) return ApplyResult::retry;
  }
  if (const auto* const limit = std::get_if<Limit>(&plan)) suppressed(label_of(*limit));
  return ApplyResult::done;
}

ApplyResult EventRecorder::create_required(kube::Api& api, const kube::Event& event) {
  switch (send(api, {event, kube::event_name(event), 1, false})) {
    case Answer::exists:
      return ApplyResult::already_exists;
    case Answer::failed:
      return ApplyResult::retry;
    case Answer::written:
    case Answer::missing:
    case Answer::refused:
      break;
  }
  return ApplyResult::done;
}

Answer EventRecorder::send(kube::Api& api, const Write& write) const {
  const WallTime now = deps_.clock.wall();
  const auto answer = api.call(
      write.exists ? to_repetition(write.event, write.name, write.count, now)
                   : to_request(write.event, write.name, write.count, deps_.instance, now));
  if (!answer) return Answer::failed;
  if (answer->ok()) return Answer::written;
  if (!write.exists && answer->status == kConflict) return Answer::exists;
  if (write.exists && answer->status == kNotFound) return Answer::missing;
  if (!is_final(answer->status)) return Answer::failed;
  refused(write.event, *answer);
  return Answer::refused;
}

void EventRecorder::refused(const kube::Event& event, const kube::Response& answer) const {
  const std::string about = event.regarding.namespace_name + "/" + event.regarding.name;
  deps_.log({Level::warn,
             "event_refused",
             "cannot record an Event: " + answer.message(),
             {{"about", about}, {"reason", std::string(event.reason)}}});
}

void EventRecorder::suppressed(std::string_view by) {
  deps_.metrics.count(kEventsSuppressed, {{"by", std::string(by)}});
}

}  // namespace cronlatch::op
