// SPDX-License-Identifier: Apache-2.0
// ./dev model [SCHEDULES] [--seed S] [--events N]: runs that many schedules from seed S on, on all
// cores, and prints the last N events of a violation.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "model/search/search.h"

namespace {

using namespace cronlatch::model;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::uint64_t kDefaultSchedules = 20'000;

double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int usage() {
  std::fprintf(stderr, "usage: ./dev model [SCHEDULES] [--seed S] [--events N]\n");
  return 64;
}

bool parse(const char* text, std::uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  Range range{.first = 0, .count = kDefaultSchedules};
  std::uint64_t events = 60;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_option = word == "--seed" || word == "--events";
    std::uint64_t& number = word == "--seed"     ? range.first
                            : word == "--events" ? events
                                                 : range.count;
    if (is_option && ++i == argc) return usage();
    if (!parse(argv[i], number)) return usage();
  }
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const SteadyTime start = std::chrono::steady_clock::now();
  double reported = 0;
  const auto progress = [&](std::uint64_t done) {
    const double spent = seconds_since(start);
    if (spent < reported + 5) return;
    reported = spent;
    std::fprintf(stderr, "%llu of %llu schedules, %.0f per second\n",
                 static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(range.count), static_cast<double>(done) / spent);
  };
  const Found found = search(range, Defect::none, threads, progress);
  const double spent = seconds_since(start);
  for (std::size_t i = 0; i < kCaseNames.size(); ++i)
    std::printf("%12llu  %s\n", static_cast<unsigned long long>(found.seen.counts[i]),
                kCaseNames[i]);
  std::printf("%llu schedules from seed %llu on %u threads in %.1f s, %.0f per second\n",
              static_cast<unsigned long long>(found.schedules),
              static_cast<unsigned long long>(range.first), threads, spent,
              static_cast<double>(found.schedules) / spent);
  if (found.violation.empty() && found.schedules > 1) {
    std::printf("no violation\n");
    return 0;
  }
  const std::uint64_t seed = found.violation.empty() ? range.first : found.seed;
  std::printf("%s", explain(seed, Defect::none, events).c_str());
  return found.violation.empty() ? 0 : 1;
}
