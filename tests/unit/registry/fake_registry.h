// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "registry/lookup.h"

namespace cronlatch::registry {

// A registry that the test blocks, stops and changes.
class FakeRegistry {
 public:
  RegistryQuery query() {
    return [this](const LookupRequest& request, TimePoint, const std::stop_token& stop) {
      ++queries;
      std::unique_lock lock(mutex_);
      while (blocked_ && !stop.stop_requested())
        changed_.wait_for(lock, std::chrono::milliseconds(5));
      if (stop.stop_requested()) return Result<ImageInfo>(Error{Code::unreachable, "stopped"});
      if (stopped_) return Result<ImageInfo>(Error{Code::unreachable, "it is unavailable"});
      return Result<ImageInfo>(ImageInfo{"sha256:" + request.image.tag + std::to_string(version_),
                                         {{"amd64", {{command_}, {}}}}});
    };
  }
  void block(bool is) {
    set([&] { blocked_ = is; });
  }
  void stop_serving(bool is) {
    set([&] { stopped_ = is; });
  }
  void push(const std::string& command) {
    set([&] { command_ = command, ++version_; });
  }
  std::atomic<int> queries{0};

 private:
  template <class Change>
  void set(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool blocked_ = false, stopped_ = false;
  int version_ = 1;
  std::string command_ = "/one";
};

}  // namespace cronlatch::registry
