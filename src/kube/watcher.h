// SPDX-License-Identifier: Apache-2.0
// Watcher: follows a collection of objects for ever: lists it in pages, watches from there, and
// lists anew when the server has forgotten where we were. It tells every object that is there or
// has changed, and every one that went, also those whose end it did not see. It keeps names and
// UIDs, not objects.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "kube/api.h"
#include "kube/watch_timing.h"

namespace cronlatch::kube {

struct Collection {
  std::string path;  // "/apis/batch/v1/cronjobs"
  std::string label_selector{};
  std::string field_selector{};
};

struct ObjectKey {
  std::string namespace_name, name;
  auto operator<=>(const ObjectKey&) const = default;
};
ObjectKey key_of(const Json& object);

// Called on the thread of run(), one at a time.
struct Followers {
  std::function<void(const Json& object)> upsert;
  std::function<void(const ObjectKey& key, const std::string& uid)> gone;
  std::function<void()> listed;  // after each complete list, when all of it was told
  std::function<void(const std::string& what)> trouble;  // for the log; it goes on by itself
};

class Watcher {
 public:
  Watcher(Api& api, Collection collection, Followers followers, WatchTiming timing);
  // Returns when stopped.
  void run(const std::stop_token& stop);

 private:
  enum class Next { watch, list };
  Next list();
  Next watch(const std::stop_token& stop);
  Next refused(const char* verb, const Result<Response>& answer);
  void wait_longer(const std::stop_token& stop);
  void saw(const Json& object);
  void lost(const std::map<ObjectKey, std::string>::iterator& known);
  void take(const WatchEvent& event);
  Request request() const;

  Api& api_;
  const Collection collection_;
  const Followers followers_;
  const WatchTiming timing_;
  std::map<ObjectKey, std::string> known_;  // to the UID
  std::string version_;                     // of what we have seen; opaque
  Backoff backoff_;
  bool troubled_ = false;  // since the last answer that was no error
};

}  // namespace cronlatch::kube
