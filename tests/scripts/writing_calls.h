// SPDX-License-Identifier: Apache-2.0
// One call for each kind of write that the scripts do. Tests of faults run all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/script_bench.h"

namespace cronlatch::testing {

inline const std::vector<std::string> kDebugAllowed{"--enable-debug-command", "yes"};

// A digest of all data of the server, and of which keys expire.
inline std::string digest(ScriptBench& bench) { return bench.witness({"DEBUG", "DIGEST"}).text; }

// A verb that writes, and the state that it needs.
struct WritingCall {
  std::string name;
  std::function<void(ScriptBench&)> prepare;
  std::function<RedisAnswer(ScriptBench&)> send;
};
// Sends what the codec encodes, and returns the answer of the server.
RedisAnswer send_raw(ScriptBench& bench, const Request& request);
// Adds old entries to the sorted sets and grants the lock to owner "a".
void hold_by_a(ScriptBench& bench);
std::vector<WritingCall> writing_calls();

}  // namespace cronlatch::testing
