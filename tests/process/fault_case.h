// SPDX-License-Identifier: Apache-2.0
// FaultCase: one fault in one run, and what the public contract promises for it. The expectations
// are derived from the verb, the fault and the options only, never from the product.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "support/fault.h"
#include "support/redis_verbs.h"

namespace cronlatch::testing {

inline constexpr int kOwnCode = 7;
inline constexpr int kStoreDown = 69;
inline constexpr int kTryLater = 75;
inline constexpr int kLost = 79;

struct FaultCase {
  RedisVerb verb = RedisVerb::acquire;
  FaultKind kind = FaultKind::reply_lost;
  std::set<int> numbers{1};  // of the verb's requests
  int exit_code = kOwnCode;
  bool waits = false;  // the lock is closed at first, so that the run sends several requests
  bool tls = false;
  std::string on_store_down = "fail";
  std::chrono::milliseconds connect_timeout{3'000};
  std::string once{};       // run identity
  int own_code = kOwnCode;  // of the command

  static constexpr int kEvery = 100;  // in `numbers`: more than any run has

  bool ran() const { return exit_code == own_code; }
  bool ungated() const { return on_store_down == "run"; }
  bool strikes_every() const { return numbers.contains(kEvery); }
  bool leaves_lease() const;  // no release is ever executed: the lock stays closed for the ttl
  // Of a test: the verb, the fault, the numbers and what is special.
  std::string name() const;
};

// No answer comes, and nothing shows that none will come.
bool is_silent(FaultKind kind);
bool is_before_start(RedisVerb verb);
// How many requests of each verb are struck in turn: 3, or 6 in a long run.
int up_to_k();

// Every case of one verb: each k, the first ones together, each request, and variants of the run.
std::vector<FaultCase> cases_of(RedisVerb verb);

}  // namespace cronlatch::testing
