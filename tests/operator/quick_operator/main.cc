// SPDX-License-Identifier: Apache-2.0
// The operator with shorter timeouts: `quick_operator header=300 connections=8 -- --config FILE`.
// Everything else is the program that ships.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "operator/program.h"

namespace {

using cronlatch::Millis;
using cronlatch::op::ServerTimeouts;

bool set(ServerTimeouts& timeouts, const std::string& key, long value) {
  const std::map<std::string, Millis*> waits = {{"handshake", &timeouts.admission.handshake},
                                                {"header", &timeouts.admission.header},
                                                {"body", &timeouts.admission.body},
                                                {"idle", &timeouts.admission.idle},
                                                {"linger", &timeouts.admission.linger},
                                                {"certificate-poll", &timeouts.certificate_poll},
                                                {"stats-interval", &timeouts.lock_stats.interval},
                                                {"stats-timeout", &timeouts.lock_stats.timeout},
                                                {"progress", &timeouts.progress},
                                                {"drain", &timeouts.drain},
                                                {"grace", &timeouts.grace}};
  if (const auto wait = waits.find(key); wait != waits.end()) {
    *wait->second = Millis(value);
  } else if (key == "connections") {
    timeouts.admission.connections = static_cast<std::size_t>(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  ServerTimeouts timeouts;
  int next = 1;
  for (; next < argc && std::string(argv[next]) != "--"; ++next) {
    const std::string word = argv[next];
    const auto equals = word.find('=');
    if (!set(timeouts, word.substr(0, equals), std::atol(word.substr(equals + 1).c_str()))) {
      std::fprintf(stderr, "quick_operator: unknown option %s\n", word.c_str());
      return 64;
    }
  }
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  const std::vector<std::string> rest(argv + (next < argc ? next + 1 : argc), argv + argc);
  return cronlatch::op::run_operator(rest, environment, timeouts);
}
