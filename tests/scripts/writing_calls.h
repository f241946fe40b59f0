// SPDX-License-Identifier: Apache-2.0
// One call for each kind of write that the scripts do. Tests of faults run all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/script_bench.h"

namespace cronlatch::testing {

inline std::vector<std::string> debug_allowed() {
  return RedisServer::if_supported("enable-debug-command", "yes");
}

// Redis 7.0 and newer. Before, a grant tries its commands, and no other verb checks them first.
inline bool can_read_access_list(ScriptBench& bench) {
  return bench.witness({"EVAL", "return redis.acl_check_cmd and 1 or 0", "0"}).integer == 1;
}

// A digest of all data of the server, and of which keys expire.
inline std::string digest(ScriptBench& bench) { return bench.witness({"DEBUG", "DIGEST"}).text; }

// A verb that writes, and the state that it needs.
struct WritingCall {
  std::string name;
  std::function<void(ScriptBench&)> prepare;
  std::function<RedisAnswer(ScriptBench&)> send;
  bool is_grant() const { return name.starts_with("grant "); }
};
// Sends what the codec encodes, and returns the answer of the server.
RedisAnswer send_raw(ScriptBench& bench, const Request& request);
// Adds old entries to the sorted sets and grants the lock to owner "a".
void hold_by_a(ScriptBench& bench);
std::vector<WritingCall> writing_calls();

}  // namespace cronlatch::testing
