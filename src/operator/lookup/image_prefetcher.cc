// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/image_prefetcher.h"

#include <optional>
#include <vector>

#include "base/text.h"
#include "base/thread_name.h"
#include "image/reference.h"
#include "kube/collection_path.h"
#include "kube/events.h"
#include "kube/watch_timing.h"

namespace cronlatch::op {
namespace {

constexpr Millis kInterval{5'000};

}  // namespace

void ImagePrefetcher::start() {
  for (const std::string& path :
       kube::paths_of({"/apis/batch/v1", "cronjobs"}, deps_.settings.namespaces))
    threads_.emplace_back(
        [this, path](const std::stop_token& stop) { watch_cronjobs(path, stop); });
  threads_.emplace_back([this](const std::stop_token& stop) { prefetch_loop(stop); });
}

void ImagePrefetcher::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();  // joins
}

void ImagePrefetcher::watch_cronjobs(const std::string& path, const std::stop_token& stop) {
  kube::Watcher watcher(
      deps_.api, {.path = path},
      {.on_object = [this](const kube::Json& object) { add(object); },
       .on_deleted = [this](const kube::ObjectKey& key, const std::string&) { remove(key); },
       .on_listed = [] {},
       .on_error =
           [this](const std::string& what) {
             deps_.log({Level::warn, "watch_trouble", what, {}});
           }},
      kube::real_watch_timing(deps_.clock));
  watcher.run(stop);
}

void ImagePrefetcher::prefetch_loop(const std::stop_token& stop) {
  const kube::WatchTiming timing = kube::real_watch_timing(deps_.clock);
  name_thread("prefetch");
  while (!stop.stop_requested()) {
    deps_.on_progress();
    prefetch_all();
    timing.pause(kInterval, stop);
  }
}

void ImagePrefetcher::add(const kube::Json& cronjob) {
  const kube::ObjectKey key = kube::key_of(cronjob);
  std::optional<NeededImage> needed = image_needed(cronjob, deps_.settings);
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
  (void)deps_.images.prefetch({needed->image, key.namespace_name, needed->placement});
}

void ImagePrefetcher::remove(const kube::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  watched_.erase(key);
}

void ImagePrefetcher::prefetch_all() {
  std::vector<std::pair<kube::ObjectKey, Watched>> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(watched_.begin(), watched_.end());
  }
  for (const auto& [key, watched] : all) {
    deps_.on_progress();
    const NeededImage& needed = watched.needed;
    const auto why = deps_.images.prefetch({needed.image, key.namespace_name, needed.placement});
    if (why && *why != watched.recorded_error && deps_.leading()) record_event(key, watched, *why);
  }
}

void ImagePrefetcher::record_event(const kube::ObjectKey& key, const Watched& watched,
                                   const std::string& why) {
  const std::string& image = watched.needed.image;
  const kube::Event event{
      .regarding = {"batch/v1", "CronJob", key.namespace_name, key.name, watched.uid},
      .identity = image + "\n" + why,
      .type = kube::EventType::warning,
      .reason = "EntrypointUnknown",
      .action = "LookUp",
      .note = "what image " + cronlatch::quoted(image, image::kMaxShownName) +
              " runs is not known: " + why + "; until it is, Jobs of this CronJob are rejected"};
  const auto answer = deps_.api.call(to_request(event, deps_.instance, deps_.clock.wall()));
  if (!answer || answer->status >= 500) return;  // retried by the next call of prefetch_all
  const std::lock_guard lock(mutex_);
  const auto there = watched_.find(key);
  if (there != watched_.end()) there->second.recorded_error = why;
}

}  // namespace cronlatch::op
