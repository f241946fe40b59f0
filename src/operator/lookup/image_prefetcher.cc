// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/image_prefetcher.h"

#include <optional>
#include <vector>

#include "base/text.h"
#include "base/thread_name.h"
#include "image/reference.h"
#include "kube/collection_path.h"
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
  TickWindow ticks(cronjob);
  deps_.images.set_needed(key, needed);
  {
    const std::lock_guard lock(mutex_);
    const auto there = watched_.find(key);
    if (!needed) {
      if (there != watched_.end()) watched_.erase(there);
      return;
    }
    const std::string uid = kube::string_at(cronjob, {"metadata", "uid"});
    const bool is_same =
        there != watched_.end() && there->second.needed == *needed && there->second.uid == uid;
    std::string recorded_error = is_same ? there->second.recorded_error : "";
    watched_.insert_or_assign(
        key, Watched{std::move(*needed), uid, std::move(ticks), std::move(recorded_error)});
  }
}

ImagePrefetcher::Due ImagePrefetcher::due(Watched& watched) const {
  const WallTime now = deps_.clock.wall();
  if (watched.ticks.is_near(now, kRevalidateBefore)) return Due::if_stale;
  return deps_.leading() || watched.ticks.is_near(now, kLookUpBefore) ? Due::if_unknown : Due::no;
}

void ImagePrefetcher::remove(const kube::ObjectKey& key) {
  deps_.images.set_needed(key, std::nullopt);
  const std::lock_guard lock(mutex_);
  watched_.erase(key);
}

void ImagePrefetcher::prefetch_all() {
  std::vector<DueImage> all;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, watched] : watched_)
      if (const Due when = due(watched); when != Due::no)
        all.push_back(
            {key, watched.needed, watched.uid, watched.recorded_error,
             when == Due::if_stale ? registry::Freshness::recent : registry::Freshness::any});
  }
  for (const DueImage& one : all) {
    deps_.on_progress();
    const auto why = deps_.images.prefetch(
        {one.needed.image, one.key.namespace_name, one.needed.placement}, one.freshness);
    if (why && *why != one.recorded_error && deps_.leading()) record_event(one, *why);
  }
}

void ImagePrefetcher::record_event(const DueImage& due, const std::string& why) {
  const std::string& image = due.needed.image;
  const kube::Event event{
      .regarding = {"batch/v1", "CronJob", due.key.namespace_name, due.key.name, due.uid},
      .identity = image + "\n" + why,
      .type = kube::EventType::warning,
      .reason = "EntrypointUnknown",
      .action = "LookUp",
      .note = "what image " + cronlatch::quoted(image, image::kMaxShownName) +
              " runs is not known: " + why + "; until it is, Jobs of this CronJob are rejected"};
  if (!deps_.record_event(event)) return;
  const std::lock_guard lock(mutex_);
  const auto there = watched_.find(due.key);
  if (there != watched_.end()) there->second.recorded_error = why;
}

}  // namespace cronlatch::op
