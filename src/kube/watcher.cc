// SPDX-License-Identifier: Apache-2.0
// LIST without a resourceVersion and in pages: never older than what was seen before, and a list of
// 10,000 objects never stands in memory as one. Then WATCH with bookmarks.
#include "kube/watcher.h"

#include <utility>

namespace cronlatch::kube {
namespace {

constexpr int kPage = 500;
constexpr Seconds kShortestWatch{300};
constexpr double kWatchSpread = 300;  // seconds
constexpr Seconds kDeadServer{30};    // after the time at which it should have ended the watch
// Bookmarks come every minute, but only from a server that has seen a change since it started: a
// silent watch is asked for again, and that is no trouble.
constexpr Seconds kSilence{150};
constexpr Seconds kListDeadline{15};
constexpr Seconds kHealthy{120};  // a watch that lasted this long forgets earlier trouble
constexpr Seconds kTooShort{1};   // a watch that ends at once would be a busy loop

constexpr int kGone = 410;

std::string version_of(const Json& object) {
  return string_at(object, {"metadata", "resourceVersion"});
}

}  // namespace

ObjectKey key_of(const Json& object) {
  return {string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"})};
}

Watcher::Watcher(Api& api, Collection collection, Followers followers, WatchTiming timing)
    : api_(api),
      collection_(std::move(collection)),
      followers_(std::move(followers)),
      timing_(std::move(timing)) {}

void Watcher::run(const std::stop_token& stop) {
  Next next = Next::list;
  while (!stop.stop_requested()) {
    troubled_ = false;
    next = next == Next::list ? list() : watch(stop);
    if (troubled_) wait_longer(stop);
  }
}

void Watcher::wait_longer(const std::stop_token& stop) {
  if (!stop.stop_requested()) timing_.pause(backoff_.next(timing_.chance), stop);
}

Request Watcher::request() const {
  Request out{.path = collection_.path};
  if (!collection_.label_selector.empty())
    out.query.emplace_back("labelSelector", collection_.label_selector);
  if (!collection_.field_selector.empty())
    out.query.emplace_back("fieldSelector", collection_.field_selector);
  return out;
}

void Watcher::saw(const Json& object) {
  const std::string uid = string_at(object, {"metadata", "uid"});
  const auto [known, is_new] = known_.try_emplace(key_of(object), uid);
  if (!is_new && known->second != uid) {  // deleted and made again while we did not look
    followers_.gone(known->first, known->second);
    known->second = uid;
  }
  followers_.upsert(object);
}

void Watcher::lost(const std::map<ObjectKey, std::string>::iterator& known) {
  const auto node = known_.extract(known);
  followers_.gone(node.key(), node.mapped());
}

Watcher::Next Watcher::list() {
  std::map<ObjectKey, std::string> missing = known_;
  std::string more;
  do {
    Request page = request();
    page.deadline = kListDeadline;
    page.query.emplace_back("limit", std::to_string(kPage));
    if (!more.empty()) page.query.emplace_back("continue", more);
    auto answer = api_.call(page);
    if (!answer || !answer->ok()) return refused("list", answer);
    // Items of a list come without apiVersion and kind; they are what the path says.
    const Json* items = find(answer->body, {"items"});
    for (const Json& item : items != nullptr && items->is_array() ? *items : Json::array()) {
      missing.erase(key_of(item));
      saw(item);
    }
    version_ = version_of(answer->body);
    more = string_at(answer->body, {"metadata", "continue"});
  } while (!more.empty());
  for (const auto& [key, uid] : missing)
    if (const auto known = known_.find(key); known != known_.end()) lost(known);
  followers_.listed();
  return Next::watch;
}

void Watcher::take(const WatchEvent& event) {
  if (const std::string version = version_of(event.object); !version.empty()) version_ = version;
  if (event.type == "DELETED") {
    if (const auto known = known_.find(key_of(event.object)); known != known_.end()) lost(known);
  } else if (event.type == "ADDED" || event.type == "MODIFIED") {
    saw(event.object);
  }
}

Watcher::Next Watcher::watch(const std::stop_token& stop) {
  const Seconds lasts = kShortestWatch + Seconds(static_cast<int>(kWatchSpread * timing_.chance()));
  Request asked = request();
  asked.deadline = lasts + kDeadServer;
  asked.silence = kSilence;
  asked.query.emplace_back("watch", "1");
  asked.query.emplace_back("allowWatchBookmarks", "true");
  asked.query.emplace_back("resourceVersion", version_);
  asked.query.emplace_back("timeoutSeconds", std::to_string(lasts.count()));
  const TimePoint began = timing_.clock.now();
  const auto end = api_.watch(
      asked, [this](const WatchEvent& event) { take(event); }, stop);
  const auto lasted = timing_.clock.now() - began;
  if (lasted >= kHealthy) backoff_.reset();
  if (stop.stop_requested()) return Next::watch;
  if (end && end->ok()) {
    troubled_ = lasted < kTooShort;
    return Next::watch;
  }
  return refused("watch", end);
}

// What we do not know is asked again from where we were; what the server refuses is listed anew.
Watcher::Next Watcher::refused(const char* verb, const Result<Response>& answer) {
  const bool gone = answer && answer->status == kGone;
  const bool listing = std::string_view(verb) == "list";
  // Gone while watching is no trouble: the list that follows is the remedy.
  troubled_ = listing || !gone;
  if (troubled_) {
    const std::string why =
        answer ? std::to_string(answer->status) + " " + answer->message() : answer.error().message;
    followers_.trouble(std::string(verb) + " " + collection_.path + ": " + why);
  }
  const bool ask_again = !listing && (!answer || answer->status == 429 || answer->status >= 500);
  return ask_again ? Next::watch : Next::list;
}

}  // namespace cronlatch::kube
