// SPDX-License-Identifier: Apache-2.0
// The operator with a quicker tempo: `quick_operator header=300 connections=8 -- --config FILE`.
// Everything else is the program that ships.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "operator/program.h"

namespace {

using cronlatch::Millis;
using cronlatch::op::WatchTiming;

bool set(WatchTiming& timing, const std::string& key, long value) {
  const std::map<std::string, Millis*> waits = {{"handshake", &timing.admission.handshake},
                                                {"header", &timing.admission.header},
                                                {"body", &timing.admission.body},
                                                {"idle", &timing.admission.idle},
                                                {"linger", &timing.admission.linger},
                                                {"look", &timing.look},
                                                {"ledger", &timing.lock_stats.every},
                                                {"patience", &timing.lock_stats.patience},
                                                {"leave", &timing.leave},
                                                {"grace", &timing.grace}};
  if (const auto wait = waits.find(key); wait != waits.end()) {
    *wait->second = Millis(value);
  } else if (key == "connections") {
    timing.admission.connections = static_cast<std::size_t>(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  WatchTiming timing;
  int next = 1;
  for (; next < argc && std::string(argv[next]) != "--"; ++next) {
    const std::string word = argv[next];
    const auto equals = word.find('=');
    if (!set(timing, word.substr(0, equals), std::atol(word.substr(equals + 1).c_str()))) {
      std::fprintf(stderr, "quick_operator: what is %s?\n", word.c_str());
      return 64;
    }
  }
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  const std::vector<std::string> rest(argv + (next < argc ? next + 1 : argc), argv + argc);
  return cronlatch::op::run_operator(rest, environment, timing);
}
