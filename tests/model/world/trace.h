// SPDX-License-Identifier: Apache-2.0
// Trace: a hash of all events of a schedule, and on request their text. A schedule is replayed by
// its seed, so that only a schedule with a violation needs the text.
#pragma once

#include <cstdio>
#include <deque>
#include <string>
#include <string_view>

#include "model/rules/facts.h"

namespace cronlatch::model {

class Trace {
 public:
  // `keep`: how many of the last events are kept as text.
  explicit Trace(std::size_t keep) : keep_(keep) {}

  void add(Us at, int run, std::string_view what, std::int64_t number) {
    for (const char c : what) mix(static_cast<unsigned char>(c));
    mix(static_cast<std::uint64_t>(at * 31 + number + run));
    if (keep_ == 0) return;
    char line[128];
    std::snprintf(line, sizeof line, "%11.6f  run %2d  %-24.*s %lld", static_cast<double>(at) / 1e6,
                  run, static_cast<int>(what.size()), what.data(), static_cast<long long>(number));
    lines_.emplace_back(line);
    if (lines_.size() > keep_) lines_.pop_front();
  }
  std::uint64_t hash() const { return hash_; }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001B3u; }
  std::size_t keep_;
  std::uint64_t hash_ = 0xCBF29CE484222325u;
  std::deque<std::string> lines_;
};

}  // namespace cronlatch::model
