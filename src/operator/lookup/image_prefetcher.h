// SPDX-License-Identifier: Apache-2.0
// ImagePrefetcher: every replica watches the CronJobs and looks up their images before a Job is
// created. The admission of the Job then has the answer at once, also while the registry is
// unavailable. The leader records failed lookups as Events.
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
#include "kube/watcher.h"
#include "operator/lookup/image_lookup.h"

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
    std::string instance;                       // name of this pod
    std::function<void()> on_progress = [] {};  // called for each image of a round
  };
  explicit ImagePrefetcher(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  void start();
  void stop();

  void add(const kube::Json& cronjob);
  void remove(const kube::ObjectKey& key);
  // Looks up every image; remembered answers need no request. Called about every five seconds.
  void prefetch_all();

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
  struct Watched {
    NeededImage needed;
    std::string uid;
    std::string recorded_error;  // the error in the last Event; "": none
  };
  void watch_cronjobs(const std::string& path, const std::stop_token& stop);
  void prefetch_loop(const std::stop_token& stop);
  void record_event(const kube::ObjectKey& key, const Watched& watched, const std::string& why);

  const Dependencies deps_;
  std::mutex mutex_;
  std::map<kube::ObjectKey, Watched> watched_;
  std::vector<std::jthread> threads_;
};

}  // namespace cronlatch::op
