// SPDX-License-Identifier: Apache-2.0
#include "fault_case.h"

#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

std::set<int> one_to(int n) {
  std::set<int> numbers;
  for (int i = 1; i <= n; ++i) numbers.insert(i);
  return numbers;
}

// One or a few requests of the verb are struck: a run that was granted nothing in time has not
// started its command, any other has run it to its end.
int code_after(RedisVerb verb, FaultKind kind) {
  return is_before_start(verb) && is_silent(kind) ? kStoreDown : kOwnCode;
}

// Each request of the verb is struck.
int code_after_every(RedisVerb verb, FaultKind kind) {
  const bool is_twice = kind == FaultKind::reply_duplicated || kind == FaultKind::reply_repeated;
  // The first of two answers is right; what follows it on the connection is not read.
  if (verb == RedisVerb::renew) return is_twice ? kOwnCode : kLost;
  if (verb == RedisVerb::acquire) return is_twice ? kOwnCode : kStoreDown;
  return is_before_start(verb) ? kStoreDown : kOwnCode;
}

// Another request of the verb follows one that was struck.
bool is_repeated(RedisVerb verb, FaultKind kind) {
  if (verb == RedisVerb::index) return false;
  if (kind == FaultKind::reply_duplicated || kind == FaultKind::reply_repeated)
    return verb != RedisVerb::acquire && verb != RedisVerb::release;
  return !is_before_start(verb) || !is_silent(kind);
}

// Only the first request of a run is certain to come.
bool comes_once(RedisVerb verb) { return verb == RedisVerb::release || verb == RedisVerb::index; }

void add_cases(std::vector<FaultCase>& cases, RedisVerb verb, FaultKind kind) {
  const int code = code_after(verb, kind);
  const FaultCase first{.verb = verb, .kind = kind, .exit_code = code};
  for (int k = 1; k <= (comes_once(verb) ? 1 : up_to_k()); ++k) {
    FaultCase c = first;
    c.numbers = {k};
    c.waits = is_before_start(verb) && k > 1;
    cases.push_back(c);
  }
  for (int k = 2; k <= 3 && is_repeated(verb, kind); ++k) {
    FaultCase c = first;
    c.numbers = one_to(k);
    cases.push_back(c);
  }
  FaultCase every = first;
  every.numbers = one_to(FaultCase::kEvery);
  every.exit_code = code_after_every(verb, kind);
  cases.push_back(every);
  FaultCase tls = first;
  tls.tls = true;
  cases.push_back(tls);
  if (code == kOwnCode) {
    FaultCase once = first;
    once.once = "job@1763690000";
    once.own_code = once.exit_code = 0;
    cases.push_back(once);
    return;
  }
  for (const char* on_store_down : {"wait", "run"}) {
    FaultCase c = first;
    c.on_store_down = on_store_down;
    c.connect_timeout = std::chrono::milliseconds(1'500);
    c.exit_code = kOwnCode;
    cases.push_back(c);
  }
}

}  // namespace

bool is_silent(FaultKind kind) {
  return kind == FaultKind::reply_lost || kind == FaultKind::reply_late ||
         kind == FaultKind::reply_stalled || kind == FaultKind::request_lost ||
         kind == FaultKind::request_late;
}

bool is_before_start(RedisVerb verb) {
  return verb == RedisVerb::hello || verb == RedisVerb::time || verb == RedisVerb::acquire;
}

int up_to_k() { return is_long_run() ? 6 : 3; }

bool FaultCase::leaves_lease() const {
  return verb == RedisVerb::release && strikes_every() &&
         (kind == FaultKind::request_lost || kind == FaultKind::request_late);
}

std::string FaultCase::name() const {
  std::string name = std::string(name_of(verb)) + "_" + name_of(kind);
  if (strikes_every())
    name += "_each";
  else if (numbers.size() > 1)
    name += "_k1_to_k" + std::to_string(numbers.size());
  else
    name += "_k" + std::to_string(*numbers.begin());
  if (tls) name += "_tls";
  if (!once.empty()) name += "_once";
  if (on_store_down != "fail") name += "_on_store_down_" + on_store_down;
  return name;
}

std::vector<FaultCase> cases_of(RedisVerb verb) {
  std::vector<FaultCase> cases;
  for (const FaultKind kind : kFaultKinds) add_cases(cases, verb, kind);
  return cases;
}

}  // namespace cronlatch::testing
