// SPDX-License-Identifier: Apache-2.0
// Journal: a log whose lines any thread may write, and a test reads.
#pragma once

#include <mutex>
#include <string>

#include "base/kernel_clock.h"
#include "base/log.h"

namespace cronlatch::testing {

struct Journal {
  KernelClock clock{};
  Log log{LogFormat::json, Level::debug, clock, [this](std::string_view line) {
            const std::lock_guard lock(mutex_);
            text_ += line;
          }};

  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool has(const std::string& word) const { return text().find(word) != std::string::npos; }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace cronlatch::testing
