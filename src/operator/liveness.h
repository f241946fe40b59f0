// SPDX-License-Identifier: Apache-2.0
// Liveness: whether the loops of the operator make progress, for the liveness probe. A loop reports
// its progress in every round, also when the API server or the store does not answer: only a loop
// that is stuck in this process fails the probe. A restart then ends it.
//
// Thread rule: any method from any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/last_error.h"
#include "base/log.h"
#include "base/time.h"

namespace cronlatch::op {

class Liveness {
 public:
  // `limit`: the longest time between two reports of a loop. The references must outlive the
  // object.
  Liveness(const Clock& clock, const Log& log, Millis limit);

  // The loop `name` made progress. From its first report on, it must continue.
  void progress(std::string_view name);
  // This thread begins work that ends within `longest`, or ends it. Work of one thread is judged by
  // its own time, whatever the other threads do. Another begin() is progress within the work.
  void begin(std::string_view name, Millis longest);
  void end();

  // "lock-stats made no progress for 123s"; "" while everything makes progress. Logs when this
  // begins or ends.
  std::string stuck();

 private:
  struct Expected {
    std::string name;
    TimePoint since, until;
  };
  const Expected* overdue(TimePoint now) const;

  const Clock& clock_;
  const Log& log_;
  const Millis limit_;
  std::mutex mutex_;
  std::map<std::string, Expected, std::less<>> loops_;
  std::map<std::thread::id, Expected> work_;
  LastError reported_;
};

}  // namespace cronlatch::op
