// SPDX-License-Identifier: Apache-2.0
// Watcher: watches a collection of objects. It lists the collection in pages, watches from there,
// and lists again when the server returns 410 (the resourceVersion is too old). It reports every
// existing, changed and deleted object, including deletions between two watches. It stores names
// and UIDs, not objects, and no second copy of them during a list.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "kube/api.h"
#include "kube/known_objects.h"
#include "kube/object_ref.h"
#include "kube/watch_timing.h"

namespace cronlatch::kube {

struct Collection {
  std::string path;  // "/apis/batch/v1/cronjobs"
  std::string label_selector{};
  std::string field_selector{};
};

// Called on the thread of run(), one at a time.
struct WatchCallbacks {
  std::function<void(Json object)> on_object;
  std::function<void(const ObjectKey& key, const std::string& uid)> on_deleted;
  std::function<void()> on_listed;  // after each complete list, when all objects were reported
  std::function<void(const std::string& what)>
      on_error;  // for the log; the watcher retries by itself
  // ---- optional; `version` is a resourceVersion of the collection ----
  // A list of the state at `version` begins: its objects are reported next.
  std::function<void(const std::string& version)> on_listing{};
  // Every change up to `version` was reported.
  std::function<void(const std::string& version)> on_position{};
  // After on_error: a list failed. Whether the server denies the right to list the collection.
  std::function<void(bool is_forbidden)> on_list_failed{};
};

class Watcher {
 public:
  Watcher(Api& api, Collection collection, WatchCallbacks callbacks, WatchTiming timing);
  // Returns when stopped.
  void run(const std::stop_token& stop);

 private:
  enum class Next { watch, list };
  Next list(const std::stop_token& stop);
  Next watch(const std::stop_token& stop);
  Next handle_error(const char* verb, const Result<Response>& answer);
  void back_off(const std::stop_token& stop);
  void report_object(Json object);
  void process(const WatchEvent& event);
  void report_position() const;
  Request request() const;

  Api& api_;
  const Collection collection_;
  const WatchCallbacks callbacks_;
  const WatchTiming timing_;
  KnownObjects known_;
  std::string version_;  // resourceVersion of the last object or list; opaque
  Backoff backoff_;
  bool failed_ = false;       // the last list or watch failed
  Millis overload_pause_{0};  // the API server named this pause when it rejected the last one
};

}  // namespace cronlatch::kube
