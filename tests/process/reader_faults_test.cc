// SPDX-License-Identifier: Apache-2.0
// The subcommands that read the store or revoke a lease, and one reply or request that is
// corrupted: the output is the truth, or there is none and the exit code says that the store is
// unavailable.
#include <algorithm>

#include "fault_case.h"
#include "gated.h"
#include "support/fault_proxy.h"

namespace cronlatch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr int kAsk = 3;  // requests of each verb that are struck in turn

struct Reader {
  const char* name;
  Words words;
};

struct ReaderTrial {
  RedisVerb verb;
  FaultKind kind;
  int k;
  std::unique_ptr<FaultProxy> proxy;
  std::unique_ptr<Program> program;
  std::string name() const {
    return std::string(name_of(verb)) + "_" + name_of(kind) + "_k" + std::to_string(k);
  }
};

class ReaderFaults : public GatedByRedis, public ::testing::WithParamInterface<Reader> {
 protected:
  Words words_with(const std::string& url) const {
    Words words = {binary()};
    const Words& own = GetParam().words;
    words.insert(words.end(), own.begin(), own.end());
    words.insert(words.end(),
                 {"--store", url, "--connect-timeout", "600ms", "--op-timeout", "400ms"});
    return words;
  }
  ReaderTrial start(RedisVerb verb, FaultKind kind, int k) const {
    Fault fault{.kind = kind,
                .concerns = [verb](const Fault::Request& r) { return verb_of(r) == verb; },
                .numbers = {k},
                .delay = milliseconds(1'300)};
    ReaderTrial trial{verb, kind, k, std::make_unique<FaultProxy>(redis->port(), fault), nullptr};
    trial.program = std::make_unique<Program>(ProgramSpec{.argv = words_with(trial.proxy->url())});
    return trial;
  }
  // Locks with different counters, so that an answer for another lock is noticed.
  void use_locks() {
    for (const auto& [lock, code] :
         {std::pair("a", "0"), std::pair("b", "1"), std::pair("c", "7")}) {
      Program run({.argv = {binary(), "run", "--store", store, "--lock", lock, "--",
                            talking_child(), "exit", code}});
      ASSERT_EQ(run.exit_code(), std::atoi(code)) << run.err();
    }
  }
};

TEST_P(ReaderFaults, LeaveTheTruthOrNothing) {
  // Given
  use_locks();
  Program undisturbed({.argv = words_with(store)});
  ASSERT_EQ(undisturbed.exit_code(), 0) << undisturbed.err();
  // When
  std::vector<ReaderTrial> trials;
  for (const RedisVerb verb : {RedisVerb::hello, RedisVerb::time, RedisVerb::read})
    for (const FaultKind kind : kFaultKinds)
      for (int k = 1; k <= (verb == RedisVerb::hello ? 1 : kAsk); ++k)
        trials.push_back(start(verb, kind, k));
  // Then
  int unavailable = 0;
  for (ReaderTrial& trial : trials) {
    SCOPED_TRACE(trial.name());
    const auto code = trial.program->exit_code();
    const bool is_struck = trial.proxy->struck() == 1;
    EXPECT_TRUE(is_struck || trial.k > 1);
    const bool is_twice =
        trial.kind == FaultKind::reply_duplicated || trial.kind == FaultKind::reply_repeated;
    if (code == 0 && (is_twice || !is_struck)) {
      EXPECT_EQ(trial.program->out(), undisturbed.out());
    } else {
      EXPECT_EQ(code, kStoreDown) << trial.program->err();
      EXPECT_EQ(trial.program->out(), "");
      EXPECT_NE(trial.program->err(), "");
    }
    unavailable += code == kStoreDown ? 1 : 0;
  }
  EXPECT_GT(unavailable, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, ReaderFaults,
                         ::testing::Values(Reader{"ls", {"ls", "-o", "json"}},
                                           Reader{"show", {"show", "b", "-o", "json"}},
                                           Reader{"metrics", {"metrics"}}),
                         [](const auto& test) { return std::string(test.param.name); });

// ---- release --force ----

class RevokeFaults : public GatedByRedis, public ::testing::WithParamInterface<FaultKind> {
 protected:
  Words revoke_words(const std::string& url) const {
    return {binary(), "release",           "job",   "--force",      "--store",
            url,      "--connect-timeout", "600ms", "--op-timeout", "400ms"};
  }
  // The request arrives at the server while its sender waits.
  static bool is_executed(FaultKind kind) {
    return kind != FaultKind::request_lost && kind != FaultKind::request_late;
  }
  long stat(const std::string& counter) const {
    return std::atol(redis_command(redis->port(), {"HGET", "cronlatch:{job}:stats", counter + "|"})
                         .text.c_str());
  }
};

TEST_P(RevokeFaults, RevokeOnceAndStopTheHolder) {
  const FaultKind kind = GetParam();
  // Given
  Program holder(run({"--renew-every", "200ms", "--outcome-file", dir.path("outcome")},
                     {"say", "up", "forever"}));
  ASSERT_TRUE(holder.says("up")) << holder.err();
  FaultProxy proxy(redis->port(),
                   {.kind = kind,
                    .concerns = [](const auto& r) { return verb_of(r) == RedisVerb::revoke; },
                    .delay = milliseconds(1'300)});
  // When
  Program revoke({.argv = revoke_words(proxy.url())});
  const auto code = revoke.exit_code();
  EXPECT_TRUE(eventually([&] { return proxy.connections() == 0; }));
  const long counted = stat("revoked");
  Program again({.argv = revoke_words(store)});
  // Then
  EXPECT_EQ(proxy.struck(), 1);
  EXPECT_EQ(counted, is_executed(kind) ? 1 : 0);
  if (code == 0) {
    EXPECT_TRUE(is_executed(kind));
    EXPECT_THAT(revoke.out(), HasSubstr("revoked the lease of"));
  } else {
    EXPECT_EQ(code, kStoreDown) << revoke.err();
    EXPECT_EQ(revoke.out(), "");
  }
  EXPECT_EQ(again.exit_code(), 0) << again.err();
  EXPECT_EQ(holder.exit_code(), kLost) << holder.err();
  EXPECT_THAT(read_file(dir.path("outcome")), HasSubstr(R"("outcome":"lost","reason":"revoked")"));
  EXPECT_EQ(stat("acquired"), 1);
  EXPECT_EQ(stat("revoked"), 1) << "acquired = released + stolen + revoked + open";
  EXPECT_EQ(stat("released") + stat("stolen"), 0);
  EXPECT_TRUE(lock_is_free());
}

// While it waits for the holder it reads the record; two of these replies are corrupted.
TEST_P(RevokeFaults, InItsReadsDoNotReportARunningHolderAsEnded) {
  const FaultKind kind = GetParam();
  // Given a holder that needs half a second to stop
  Program holder(
      run({"--renew-every", "200ms"}, {"to", file(), "on", "15", "[", "sleep", "1000", "say",
                                       "stopped", "exit", "0", "]", "say", "up", "forever"}));
  ASSERT_TRUE(told("up"));
  FaultProxy proxy(redis->port(),
                   {.kind = kind,
                    .concerns = [](const auto& r) { return verb_of(r) == RedisVerb::read; },
                    .numbers = {1, 3},
                    .delay = milliseconds(1'300)});
  // When
  Program revoke({.argv = revoke_words(proxy.url())});
  const auto code = revoke.exit_code();
  const std::string story = read_file(file());
  // Then
  EXPECT_EQ(code, 0) << revoke.err();
  EXPECT_THAT(revoke.out(), HasSubstr("its holder released it"));
  EXPECT_THAT(story, HasSubstr("stopped"));
  EXPECT_GT(proxy.struck(), 0);
  EXPECT_EQ(holder.exit_code(), kLost) << holder.err();
  EXPECT_EQ(stat("revoked"), 1);
}

INSTANTIATE_TEST_SUITE_P(Fault, RevokeFaults, ::testing::ValuesIn(kFaultKinds),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace cronlatch::testing
