// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/image_prefetcher.h"

#include <optional>
#include <vector>

#include "base/text.h"
#include "image/reference.h"
#include "kube/events.h"
#include "kube/watch_timing.h"

namespace cronlatch::op {
namespace {

constexpr Millis kBetweenPasses{5'000};

}  // namespace

void ImagePrefetcher::start() {
  follower_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  asker_ = std::jthread([this](const std::stop_token& stop) { pass_on(stop); });
}

void ImagePrefetcher::stop() {
  for (std::jthread* const thread : {&follower_, &asker_}) {
    thread->request_stop();
    if (thread->joinable()) thread->join();
  }
}

void ImagePrefetcher::follow(const std::stop_token& stop) {
  kube::Watcher watcher(
      parts_.api, {.path = "/apis/batch/v1/cronjobs"},
      {.upsert = [this](const kube::Json& object) { saw(object); },
       .gone = [this](const kube::ObjectKey& key, const std::string&) { gone(key); },
       .listed = [] {},
       .trouble =
           [this](const std::string& what) {
             parts_.log({Level::warn, "watch_trouble", what, {}});
           }},
      kube::real_watch_timing(parts_.clock));
  watcher.run(stop);
}

void ImagePrefetcher::pass_on(const std::stop_token& stop) {
  const kube::WatchTiming timing = kube::real_watch_timing(parts_.clock);
  while (!stop.stop_requested()) {
    pass();
    timing.pause(kBetweenPasses, stop);
  }
}

void ImagePrefetcher::saw(const kube::Json& cronjob) {
  const kube::ObjectKey key = kube::key_of(cronjob);
  std::optional<NeededImage> needed = image_needed(cronjob, parts_.settings);
  {
    const std::lock_guard lock(mutex_);
    const auto there = watched_.find(key);
    if (!needed) {
      if (there != watched_.end()) watched_.erase(there);
      return;
    }
    const std::string uid = kube::string_at(cronjob, {"metadata", "uid"});
    if (there != watched_.end() && there->second.needed == *needed && there->second.uid == uid)
      return;
    watched_[key] = {*needed, uid, ""};
  }
  (void)parts_.images.image_prefetcher({needed->image, key.namespace_name, needed->placement});
}

void ImagePrefetcher::gone(const kube::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  watched_.erase(key);
}

void ImagePrefetcher::pass() {
  std::vector<std::pair<kube::ObjectKey, Watched>> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(watched_.begin(), watched_.end());
  }
  for (const auto& [key, watched] : all) {
    const NeededImage& needed = watched.needed;
    const auto why =
        parts_.images.image_prefetcher({needed.image, key.namespace_name, needed.placement});
    if (why && *why != watched.told && parts_.leading()) tell(key, watched, *why);
  }
}

void ImagePrefetcher::tell(const kube::ObjectKey& key, const Watched& watched,
                           const std::string& why) {
  const std::string& image = watched.needed.image;
  const kube::Event event{
      .regarding = {"batch/v1", "CronJob", key.namespace_name, key.name, watched.uid},
      .identity = image + "\n" + why,
      .tone = kube::EventType::warning,
      .reason = "EntrypointUnknown",
      .action = "LookUp",
      .note = "what image " + cronlatch::quoted(image, image::kMaxShownName) +
              " runs is not known: " + why + "; the Jobs of this CronJob are refused until it is"};
  const auto answer = parts_.api.call(to_request(event, parts_.instance, parts_.clock.wall()));
  if (!answer || answer->status >= 500) return;  // the next pass tries again
  const std::lock_guard lock(mutex_);
  const auto there = watched_.find(key);
  if (there != watched_.end()) there->second.told = why;
}

}  // namespace cronlatch::op
