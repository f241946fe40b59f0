// SPDX-License-Identifier: Apache-2.0
#include "model/search/search.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace cronlatch::model {
namespace {

constexpr std::uint64_t kProgressEvery = 1'000;

}  // namespace

Found search(Range range, Defect defect, unsigned threads,
             const std::function<void(std::uint64_t)>& progress) {
  std::atomic<std::uint64_t> next = range.first, done = 0;
  std::atomic<bool> is_found = false;
  std::mutex mutex;
  Found found;
  const auto work = [&](bool reports) {
    Seen seen;
    for (;;) {
      const std::uint64_t seed = next++;
      if (seed >= range.first + range.count || is_found) break;
      const Report report = run_schedule(seed, defect);
      seen.add(report.seen);
      ++done;
      if (reports && progress && done % kProgressEvery < threads) progress(done);
      if (report.violation.empty()) continue;
      const std::lock_guard lock(mutex);
      if (found.violation.empty() || seed < found.seed) {
        found.seed = seed;
        found.violation = report.violation;
      }
      is_found = true;
    }
    const std::lock_guard lock(mutex);
    found.seen.add(seen);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, false);
  work(true);
  for (std::thread& thread : others) thread.join();
  found.schedules = done;
  return found;
}

std::string explain(std::uint64_t seed, Defect defect, std::size_t events) {
  const Report report = run_schedule(seed, defect, events);
  std::string text;
  for (const std::string& line : report.lines) text += line + "\n";
  return text + "seed " + std::to_string(seed) + ": " +
         (report.violation.empty() ? "no violation" : report.violation) +
         "\nto repeat it: ./dev model 1 --seed " + std::to_string(seed) + "\n";
}

}  // namespace cronlatch::model
