// SPDX-License-Identifier: Apache-2.0
// ./dev bench queue: the hand-off of a lock in Redis and in PostgreSQL, from the release until the
// next client has the grant, with 1, 50 and 500 clients that wait. Three measurements alternate in
// one session: the bare wake-up of the server, the hand-off with the wake-up, and the hand-off
// without it, where the next client polls as the first run in the queue does.
//   queue ROUNDS [WAITERS...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "queue_line.h"
#include "queue_server.h"

namespace {

using namespace cronlatch;
using namespace cronlatch::bench;

// The longest pause of the first run in the queue.
constexpr Millis kPoll{850};

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void measure(const char* name, QueueServer& server, int waiters, int rounds) {
  QueueLine line(server.spec(), waiters, server.max_connections());
  const auto is_listening = [&] { return server.is_listening(); };
  std::vector<double> bare, woken, polled;
  for (int i = 0; i < rounds; ++i) {
    bare.push_back(server.bare_wake_up());
    line.refresh();
    woken.push_back(line.woken_hand_off(is_listening));
    line.rejoin();
    line.refresh();
    polled.push_back(line.polled_hand_off(kPoll * (i % 8) / 8));
    line.rejoin();
  }
  const int commands =
      server.commands_of([&] { line.refresh(); }, [&] { line.woken_hand_off(is_listening); });
  std::printf("| %s | %d | %.0f us | %.0f us | %.1f | %.0f us | %.1f | %d |\n", name, waiters,
              median(bare), median(woken), median(woken) / median(bare), median(polled),
              median(polled) / median(woken), commands);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (rounds <= 0) return 64;
  std::vector<int> sizes = {1, 50, 500};
  if (argc > 2) sizes.clear();
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  std::printf(
      "| store | clients that wait | bare wake-up | hand-off | ratio | by polling | ratio | "
      "commands |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const int waiters : sizes) {
    measure("Redis", *start_redis_for_queue(), waiters, rounds);
    measure("PostgreSQL", *start_postgres_for_queue(), waiters, rounds);
  }
}
