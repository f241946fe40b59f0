// SPDX-License-Identifier: Apache-2.0
// LockStatsReader: reads the whole ledger of the store again and again, on a thread of its own, so
// that no scrape and no admission ever waits for a store. Reads only. What it found goes to one
// listener; trouble is logged once when it begins, changes or ends.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "core/lock_stats.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

struct LockStatsTiming {
  Millis every{15'000};    // from one reading to the next
  Millis patience{8'000};  // for one reading, connecting included; also how long stop() may take
};

struct LockStatsUpdate {
  std::vector<LockView> locks;  // sorted by name
  std::string error;            // not empty: there are no locks, the reading failed
};

class LockStatsReader {
 public:
  // A way to the store as it is configured now. `stamp` is another one when the credentials are.
  struct Opened {
    std::size_t stamp = 0;
    std::function<Result<std::unique_ptr<LockStats>>()> open;
  };
  struct Parts {
    std::string endpoint;  // for people and labels
    std::function<Result<Opened>()> access;
    std::function<void(LockStatsUpdate)> listener;  // on our thread
    Metrics& metrics;
    const Clock& clock;
    const Log& log;
    LockStatsTiming timing{};
  };
  explicit LockStatsReader(Parts parts);
  ~LockStatsReader();  // stops
  LockStatsReader(const LockStatsReader&) = delete;
  LockStatsReader& operator=(const LockStatsReader&) = delete;

  void start();
  void stop();
  // One reading; what the thread does. For tests, instead of start().
  void step();

 private:
  Result<std::vector<LockView>> read();
  Status open();
  void tell_up();
  void tell_down(const Error& error);

  const Parts parts_;
  std::unique_ptr<LockStats> lock_stats_;
  std::size_t stamp_ = 0;
  std::optional<std::string> trouble_;  // said last; "" while it is well
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace cronlatch::op
