// SPDX-License-Identifier: Apache-2.0
// LIST without resourceVersion returns the newest state; pages bound the memory that a list of
// 10,000 objects takes. WATCH uses bookmarks.
#include "kube/watcher.h"

#include <algorithm>
#include <utility>

#include "kube/overload.h"

namespace cronlatch::kube {
namespace {

constexpr int kPage = 500;
constexpr Seconds kShortestWatch{300};
constexpr double kWatchSpread = 300;  // seconds
constexpr Seconds kServerGrace{30};   // after timeoutSeconds of the watch
// A server sends a bookmark every minute, but not before the first change since its start. An idle
// watch is therefore repeated and is not an error.
constexpr Seconds kIdleTimeout{150};
constexpr Seconds kListDeadline{15};
constexpr Seconds kHealthy{120};  // a watch of this length resets the backoff
constexpr Seconds kMinWatch{1};   // a shorter watch is followed by a wait, against a busy loop

constexpr int kGone = 410;
constexpr int kForbidden = 403;

std::string version_of(const Json& object) {
  return string_at(object, {"metadata", "resourceVersion"});
}

}  // namespace

Watcher::Watcher(Api& api, Collection collection, WatchCallbacks callbacks, WatchTiming timing)
    : api_(api),
      collection_(std::move(collection)),
      callbacks_(std::move(callbacks)),
      timing_(std::move(timing)) {}

void Watcher::run(const std::stop_token& stop) {
  Next next = Next::list;
  while (!stop.stop_requested()) {
    failed_ = false;
    overload_pause_ = Millis(0);
    next = next == Next::list ? list(stop) : watch(stop);
    if (failed_) back_off(stop);
  }
}

void Watcher::back_off(const std::stop_token& stop) {
  if (stop.stop_requested()) return;
  timing_.pause(std::max(backoff_.next(timing_.random_fraction), overload_pause_), stop);
}

Request Watcher::request() const {
  Request out{.path = collection_.path};
  if (!collection_.label_selector.empty())
    out.query.emplace_back("labelSelector", collection_.label_selector);
  if (!collection_.field_selector.empty())
    out.query.emplace_back("fieldSelector", collection_.field_selector);
  return out;
}

void Watcher::report_object(Json object) {
  const ObjectKey key = key_of(object);
  // Deleted and created again between two watches.
  if (const auto former = known_.add(key, string_at(object, {"metadata", "uid"})))
    callbacks_.on_deleted(key, *former);
  callbacks_.on_object(std::move(object));
}

Watcher::Next Watcher::list(const std::stop_token& stop) {
  known_.begin_list();
  std::string more;
  bool is_announced = false;  // every page has the version of the first one
  const auto announce = [&](const Json& list) {
    // Empty during the items of a page whose metadata follow them.
    const std::string version = version_of(list);
    if (is_announced || version.empty() || !callbacks_.on_listing) return;
    callbacks_.on_listing(version);
    is_announced = true;
  };
  do {
    if (stop.stop_requested()) return Next::list;
    Request page = request();
    page.deadline = kListDeadline;
    page.query.emplace_back("limit", std::to_string(kPage));
    if (!more.empty()) page.query.emplace_back("continue", more);
    page.on_item = [&](const Json& list, Json item) {
      announce(list);
      report_object(std::move(item));
    };
    const auto answer = api_.call(page);
    if (!answer || !answer->ok()) return handle_error("list", answer);
    announce(answer->body);
    version_ = version_of(answer->body);
    more = string_at(answer->body, {"metadata", "continue"});
  } while (!more.empty());
  known_.end_list(callbacks_.on_deleted);
  report_position();
  callbacks_.on_listed();
  return Next::watch;
}

void Watcher::process(const WatchEvent& event) {
  if (const std::string version = version_of(event.object); !version.empty()) version_ = version;
  if (event.type == "DELETED") {
    const ObjectKey key = key_of(event.object);
    if (const auto uid = known_.remove(key)) callbacks_.on_deleted(key, *uid);
  } else if (event.type == "ADDED" || event.type == "MODIFIED") {
    report_object(event.object);
  }
  report_position();
}

void Watcher::report_position() const {
  if (callbacks_.on_position) callbacks_.on_position(version_);
}

Watcher::Next Watcher::watch(const std::stop_token& stop) {
  const Seconds duration =
      kShortestWatch + Seconds(static_cast<int>(kWatchSpread * timing_.random_fraction()));
  Request watch_request = request();
  watch_request.deadline = duration + kServerGrace;
  watch_request.idle_timeout = kIdleTimeout;
  watch_request.query.emplace_back("watch", "1");
  watch_request.query.emplace_back("allowWatchBookmarks", "true");
  watch_request.query.emplace_back("resourceVersion", version_);
  watch_request.query.emplace_back("timeoutSeconds", std::to_string(duration.count()));
  const TimePoint began = timing_.clock.now();
  const auto end = api_.watch(
      watch_request, [this](const WatchEvent& event) { process(event); }, stop);
  const auto lasted = timing_.clock.now() - began;
  if (lasted >= kHealthy) backoff_.reset();
  if (stop.stop_requested()) return Next::watch;
  if (end && end->ok()) {
    failed_ = lasted < kMinWatch;
    return Next::watch;
  }
  return handle_error("watch", end);
}

// After a failure without an answer the watch continues at the last version; a rejected watch is
// followed by a list.
Watcher::Next Watcher::handle_error(const char* verb, const Result<Response>& answer) {
  const bool gone = answer && answer->status == kGone;
  const bool listing = std::string_view(verb) == "list";
  // A 410 during a watch is not an error: a list follows.
  failed_ = listing || !gone;
  if (answer) overload_pause_ = overload_pause(*answer, timing_.random_fraction);
  if (failed_) {
    const std::string why = answer ? answer->error_text() : answer.error().message;
    callbacks_.on_error(std::string(verb) + " " + collection_.path + ": " + why);
  }
  if (listing && callbacks_.on_list_failed)
    callbacks_.on_list_failed(answer && answer->status == kForbidden);
  const bool is_retryable = !listing && (!answer || answer->status == 429 || answer->status >= 500);
  return is_retryable ? Next::watch : Next::list;
}

}  // namespace cronlatch::kube
