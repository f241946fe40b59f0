// SPDX-License-Identifier: Apache-2.0
// The real program and a real Redis, with a proxy between them that spoils one reply or request of
// one verb, or several. A long run strikes more of each verb.
#include "fault_trial.h"
#include "store/redis/scripts.h"

namespace cronlatch::testing {
namespace {

std::set<int> one_to(int n) {
  std::set<int> numbers;
  for (int i = 1; i <= n; ++i) numbers.insert(i);
  return numbers;
}

struct NamedVerb {
  const char* name;
  RedisVerb verb;
};
void PrintTo(const NamedVerb& verb, std::ostream* out) { *out << verb.name; }

class SpoiltStore : public ::testing::Test {
 protected:
  SpoiltStore() {
    // So that no first request of a verb is answered by NOSCRIPT.
    for (const scripts::Script& script : {scripts::acquire, scripts::renew, scripts::release})
      EXPECT_FALSE(
          redis_command(redis->port(), {"SCRIPT", "LOAD", std::string(script.text)}).is_error());
  }

  // All at once: they wait much more than they compute.
  void judge(const std::vector<FaultCase>& cases) const {
    std::vector<std::unique_ptr<FaultTrial>> trials;
    for (const FaultCase& c : cases)
      trials.push_back(std::make_unique<FaultTrial>(*redis, c, static_cast<int>(trials.size())));
    for (const auto& trial : trials) trial->judge();
  }

  std::unique_ptr<RedisServer> redis = RedisServer::start();
};

class StoreFaults : public SpoiltStore, public ::testing::WithParamInterface<NamedVerb> {};

// What the program does when its requests number `numbers` of `verb` are struck: a run that was not
// granted anything in time has not started its command, any other has run it to its end.
int expected_code(RedisVerb verb, FaultKind kind) {
  return is_before_start(verb) && is_silent(kind) ? kStoreDown : kOwnCode;
}

// Another request of the verb follows one that was struck.
bool is_repeated(RedisVerb verb, FaultKind kind) {
  if (verb == RedisVerb::index) return false;
  if (kind == FaultKind::reply_duplicated)
    return verb != RedisVerb::acquire && verb != RedisVerb::release;
  return !is_before_start(verb) || !is_silent(kind);
}

TEST_P(StoreFaults, InTheKthOfAVerbLeaveExitCodeOutcomeAndCountersTrue) {
  const RedisVerb verb = GetParam().verb;
  std::vector<FaultCase> cases;
  for (const FaultKind kind : kFaultKinds)
    for (int k = 1; k <= up_to_k(); ++k) {
      // A second release follows only a first one that was struck; a lock is new once.
      if ((verb == RedisVerb::release || verb == RedisVerb::index) && k > 1) break;
      FaultCase c{
          .verb = verb, .kind = kind, .numbers = {k}, .exit_code = expected_code(verb, kind)};
      c.waits = is_before_start(verb) && k > 1;
      cases.push_back(c);
    }
  for (const FaultKind kind : kFaultKinds)
    for (int k = 2; k <= 3 && is_repeated(verb, kind); ++k)
      cases.push_back({.verb = verb,
                       .kind = kind,
                       .numbers = one_to(k),
                       .exit_code = expected_code(verb, kind)});
  judge(cases);
}

TEST_P(StoreFaults, InEachOfAVerbLeaveExitCodeOutcomeAndCountersTrue) {
  const RedisVerb verb = GetParam().verb;
  std::vector<FaultCase> cases;
  for (const FaultKind kind : kFaultKinds) {
    FaultCase c{.verb = verb, .kind = kind, .numbers = one_to(FaultTrial::kEvery)};
    const bool is_answered = kind == FaultKind::reply_duplicated;
    if (verb == RedisVerb::renew && !is_answered) c.exit_code = kLost;
    // The second HELLO is taken for the answer to TIME, and the like; acquire takes the first.
    if (is_before_start(verb) && !(is_answered && verb == RedisVerb::acquire))
      c.exit_code = kStoreDown;
    cases.push_back(c);
  }
  judge(cases);
}

// The answers before the start that do not come.
std::vector<FaultCase> silent_cases(const std::string& on_store_down) {
  std::vector<FaultCase> cases;
  for (const RedisVerb verb : {RedisVerb::hello, RedisVerb::time, RedisVerb::acquire})
    for (const FaultKind kind : kFaultKinds)
      if (is_silent(kind))
        cases.push_back({.verb = verb,
                         .kind = kind,
                         .on_store_down = on_store_down,
                         .connect_timeout = std::chrono::milliseconds(1'500)});
  return cases;
}

TEST_F(SpoiltStore, ThatDoesNotReplyBeforeTheStartIsWaitedForWithOnStoreDownWait) {
  judge(silent_cases("wait"));
}

TEST_F(SpoiltStore, ThatDoesNotReplyBeforeTheStartLetsTheCommandRunOnceWithOnStoreDownRun) {
  std::vector<FaultCase> cases = silent_cases("run");
  for (FaultCase& c : cases) c.ungated = true;
  judge(cases);
}

TEST_P(StoreFaults, InARunWithAnIdentityKeepItsDoneMark) {
  std::vector<FaultCase> cases;
  for (const FaultKind kind : kFaultKinds)
    if (expected_code(GetParam().verb, kind) == kOwnCode)
      cases.push_back({.verb = GetParam().verb,
                       .kind = kind,
                       .exit_code = 0,
                       .once = "job@1763690000",
                       .own_code = 0});
  judge(cases);
}

INSTANTIATE_TEST_SUITE_P(Verb, StoreFaults,
                         ::testing::Values(NamedVerb{"hello", RedisVerb::hello},
                                           NamedVerb{"time", RedisVerb::time},
                                           NamedVerb{"acquire", RedisVerb::acquire},
                                           NamedVerb{"renew", RedisVerb::renew},
                                           NamedVerb{"release", RedisVerb::release},
                                           NamedVerb{"index", RedisVerb::index}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cronlatch::testing
