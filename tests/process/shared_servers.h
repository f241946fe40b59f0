// SPDX-License-Identifier: Apache-2.0
// Runs on a group of servers that all tests of a suite share: each test has a lock with its name.
#pragma once

#include "gated.h"

namespace cronlatch::testing {

class OnSharedServers : public Gated {
 protected:
  static Words options(const Words& more = {}) {
    Words words = {"--ttl", "20s", "--renew-every", "500ms"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::string lock() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string key() { return "cronlatch:{" + lock() + "}"; }
  ProgramSpec run(const Words& options, const Words& words) const {
    ProgramSpec spec = Gated::run(options, words);
    spec.argv[3] = lock();
    return spec;
  }
  // The server that has the lock now.
  virtual RedisServer& owner() const = 0;
  std::string field(const std::string& name) const {
    return redis_command(owner().port(), {"HGET", key(), name}).text;
  }
  bool is_renewed_after(const std::string& expires) const {
    return eventually([&] {
      const std::string now = field("expires");
      return !now.empty() && now > expires;
    });
  }
};

}  // namespace cronlatch::testing
