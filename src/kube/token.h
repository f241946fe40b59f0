// SPDX-License-Identifier: Apache-2.0
// TokenSource: the current bearer token. The kubelet writes a new token about every 50 minutes; the
// old one expires later. The file is therefore read every minute and after a 401.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "base/secret.h"

namespace cronlatch::kube {

class TokenSource {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Without `file`: always `fixed`, which may be empty (no token).
  TokenSource(std::string file, Secret fixed);

  // Any thread. If the file cannot be read, the previous token stays in use.
  Secret current(Time now);
  // After a 401 for `used`: reads the file. True if the file contains another token.
  bool renewed_after_refusal(const Secret& used, Time now);

 private:
  void read(Time now);

  std::mutex mutex_;
  const std::string file_;
  Secret token_;
  Time next_{};
};

}  // namespace cronlatch::kube
