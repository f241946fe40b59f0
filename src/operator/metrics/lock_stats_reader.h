// SPDX-License-Identifier: Apache-2.0
// LockStatsReader: reads the lock statistics of the store periodically, on its own thread, so that
// no scrape and no admission waits for the store. It reports the result to one listener. An error
// is logged when it begins, changes or ends.
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

#include "base/last_error.h"
#include "base/log.h"
#include "base/time.h"
#include "core/lock_stats.h"
#include "core/server_state.h"
#include "core/server_switch.h"
#include "operator/metrics/metrics.h"
#include "operator/metrics/store_servers.h"

namespace cronlatch::op {

struct LockStatsTiming {
  Millis interval{15'000};  // between two reads
  Millis timeout{8'000};    // of one read, with its connection; stop() may take as long
};

struct LockStatsUpdate {
  std::vector<LockView> locks;         // sorted by name
  std::string error;                   // not empty: the read failed, `locks` is empty
  std::vector<ServerState> servers{};  // of a quorum; empty: another store, or no connection yet
  std::optional<ServerSwitch> switched{};  // since the last read, where the URL names several hosts
};

class LockStatsReader {
 public:
  // Opens the store with the current configuration. `stamp` changes with the credentials.
  struct Opened {
    std::size_t stamp = 0;
    std::function<Result<std::unique_ptr<LockStats>>()> open;
  };
  struct Dependencies {
    std::string endpoint;  // of the URL; for messages and labels until a server is known
    std::function<Result<Opened>()> access;
    std::function<void(LockStatsUpdate)> listener;  // called on the thread of the reader
    Metrics& metrics;
    const Clock& clock;
    const Log& log;
    LockStatsTiming timing{};
    std::function<void()> on_progress = [] {};  // called in each round of the thread
  };
  explicit LockStatsReader(Dependencies dependencies);
  ~LockStatsReader();  // stops
  LockStatsReader(const LockStatsReader&) = delete;
  LockStatsReader& operator=(const LockStatsReader&) = delete;

  void start();
  void stop();
  // One read, as the thread does it. For tests, instead of start().
  void step();

 private:
  Result<std::vector<LockView>> read();
  Status open();
  void update_servers();
  std::optional<ServerSwitch> follow_server();
  void read_quarantine();
  void report_up();
  void report_down(const Error& error);

  const Dependencies deps_;
  std::unique_ptr<LockStats> lock_stats_;
  std::size_t stamp_ = 0;
  std::string endpoint_;             // of the label: the server in use, or that of the URL
  std::string server_;               // the last one that the store named
  std::vector<ServerState> states_;  // of the last read
  StoreServers servers_;
  LastError last_error_;
  LastError quarantine_error_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace cronlatch::op
