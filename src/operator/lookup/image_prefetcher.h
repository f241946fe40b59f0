// SPDX-License-Identifier: Apache-2.0
// ImagePrefetcher: every replica follows the CronJobs and asks about their images before a Job is
// due, so that its admission finds the answer, and goes on finding it while a registry is down. The
// leader tells as Events what could not be found out.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "admission/image_needed.h"
#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"
#include "kube/watcher.h"
#include "operator/lookup/image_lookup.h"

namespace cronlatch::op {

class ImagePrefetcher {
 public:
  // All that is passed by reference outlives it.
  struct Parts {
    const Settings& settings;
    kube::Api& api;
    const ImageLookup& images;
    const Clock& clock;
    const Log& log;
    std::function<bool()> leading;
    std::string instance;  // our pod's name
  };
  explicit ImagePrefetcher(Parts parts) : parts_(std::move(parts)) {}

  void start();
  void stop();

  void saw(const kube::Json& cronjob);
  void gone(const kube::ObjectKey& key);
  // Asks about every image again; what is remembered costs nothing. About every five seconds.
  void pass();

 private:
  struct Watched {
    NeededImage needed;
    std::string uid;
    std::string told;  // the failure that there is an kube::Event of
  };
  void follow(const std::stop_token& stop);
  void pass_on(const std::stop_token& stop);
  void tell(const kube::ObjectKey& key, const Watched& watched, const std::string& why);

  const Parts parts_;
  std::mutex mutex_;
  std::map<kube::ObjectKey, Watched> watched_;
  std::jthread follower_, asker_;
};

}  // namespace cronlatch::op
