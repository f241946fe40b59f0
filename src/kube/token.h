// SPDX-License-Identifier: Apache-2.0
// TokenSource: the bearer token as it is now. Kubernetes writes a new one into the file about every
// 50 minutes and stops taking the old one later, so it is read again each minute and after a 401.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "base/secret.h"

namespace cronlatch::kube {

class TokenSource {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // An empty `file`: always `fixed`, which may be empty too (no token at all).
  TokenSource(std::string file, Secret fixed);

  // Any thread. A file that cannot be read keeps the token that we have.
  Secret current(Time now);
  // After a 401 for `used`: reads the file now. True when that gave another token.
  bool renewed_after_refusal(const Secret& used, Time now);

 private:
  void read(Time now);

  std::mutex mutex_;
  const std::string file_;
  Secret token_;
  Time next_{};
};

}  // namespace cronlatch::kube
