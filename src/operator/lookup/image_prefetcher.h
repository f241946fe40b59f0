// SPDX-License-Identifier: Apache-2.0
// ImagePrefetcher: looks up the images of CronJobs before a Job is created. The admission of the
// Job then has the answer at once, also while the registry is unavailable. Every replica does so
// shortly before a scheduled time. The leader also looks up an image when it first sees its
// CronJob, and records failed lookups as Events.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "admission/image_needed.h"
#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"
#include "kube/events.h"
#include "kube/watcher.h"
#include "operator/lookup/image_lookup.h"
#include "operator/lookup/tick_window.h"

namespace cronlatch::op {

class ImagePrefetcher {
 public:
  // All references must outlive the object.
  struct Dependencies {
    const Settings& settings;
    kube::Api& api;
    const ImageLookup& images;
    const Clock& clock;
    const Log& log;
    std::function<bool()> leading;
    std::function<bool(const kube::Event&)> record_event;  // false: retried in the next round
    std::function<void()> on_progress = [] {};             // called for each image of a round
  };
  explicit ImagePrefetcher(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  void start();
  void stop();

  void add(const kube::Json& cronjob);
  void remove(const kube::ObjectKey& key);
  // Looks up the images that are due; remembered answers need no request. Called about every five
  // seconds.
  void prefetch_all();

  // An answer is revalidated this long before a scheduled time, and looked up for the first time
  // this long before it: a retry is then still possible.
  static constexpr Millis kRevalidateBefore{120'000};
  static constexpr Millis kLookUpBefore{900'000};

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
  struct Watched {
    NeededImage needed;
    std::string uid;
    TickWindow ticks;
    std::string recorded_error{};  // the error in the last Event; "": none
  };
  enum class Due { no, if_unknown, if_stale };
  Due due(Watched& watched) const;
  void watch_cronjobs(const std::string& path, const std::stop_token& stop);
  void prefetch_loop(const std::stop_token& stop);
  // NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
  struct DueImage {
    kube::ObjectKey key;
    NeededImage needed;
    std::string uid, recorded_error;
    registry::Freshness freshness;
  };
  void record_event(const DueImage& due, const std::string& why);

  const Dependencies deps_;
  std::mutex mutex_;
  std::map<kube::ObjectKey, Watched> watched_;
  std::vector<std::jthread> threads_;
};

}  // namespace cronlatch::op
