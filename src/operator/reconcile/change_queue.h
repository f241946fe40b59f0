// SPDX-License-Identifier: Apache-2.0
// Inbox: what the watchers saw, for the one thread that acts on it. Bounded: a watcher that is
// ahead waits, and with it the network, so that a cluster of 10,000 objects is never in memory at
// once.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/time.h"
#include "kube/json.h"
#include "kube/watcher.h"

namespace cronlatch::op {

enum class Sort { cronjob, job, pod };

struct Seen {
  enum class What { object, gone, all_listed };
  Sort sort = Sort::cronjob;
  What what = What::object;
  kube::Json object{};    // What::object
  kube::ObjectKey key{};  // What::gone
  std::string uid{};      // What::gone
};

class Inbox {
 public:
  static constexpr std::size_t kMost = 256;
  // Waits for room; false when stopped.
  bool put(Seen seen, const std::stop_token& stop);
  // Waits at most that long.
  std::optional<Seen> take(Millis wait, const std::stop_token& stop);
  void clear();

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Seen> seen_;
};

}  // namespace cronlatch::op
