// SPDX-License-Identifier: Apache-2.0
// LockLoad: clients that acquire, renew and release a few locks without a pause, each on its own
// connection, and compare what the server confirmed: at most one holder, rising fences, and no
// confirmed grant that the server no longer has. A client repeats a request whose result is
// unknown, as a run does.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/open.h"

namespace cronlatch::testing {

class LockLoad {
 public:
  LockLoad(StoreSpec spec, int clients, int locks);
  ~LockLoad();  // stops
  LockLoad(const LockLoad&) = delete;
  LockLoad& operator=(const LockLoad&) = delete;

  // Each client ends after the release of its lock.
  void stop();
  // Until that many grants were confirmed since the call; false after the patience of the tests.
  bool runs_for(std::int64_t more) const;
  std::int64_t grants() const { return grants_; }
  std::int64_t unknown() const { return unknown_; }  // requests that were repeated
  std::vector<std::string> violations() const;

 private:
  struct Lock {
    int holders = 0;
    Fence fence = 0;
  };
  class Client;
  void violate(const std::string& what);
  void granted(const std::string& lock, Fence fence);
  void releasing(const std::string& lock);

  const StoreSpec spec_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::int64_t> grants_ = 0, unknown_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Lock> locks_;
  std::vector<std::string> violations_;
  std::vector<std::jthread> threads_;
};

}  // namespace cronlatch::testing
