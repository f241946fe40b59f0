// SPDX-License-Identifier: Apache-2.0
// `cronlatch hold`: the lock is kept for the time, its reason is in the log of a skipped run, and
// no option or variable lets it succeed without the lock.
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

ProgramSpec hold_in(const std::string& store, const Words& options) {
  ProgramSpec spec;
  spec.argv = {binary(), "hold", "job", "--store", store, "--reason", "disk is replaced"};
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  return spec;
}

bool is_held_in(const std::string& store) {
  ProgramSpec spec;
  spec.argv = {binary(), "show", "job", "--store", store, "-o", "json"};
  return eventually([&] {
    Program show(spec);
    return show.exit_code() == 0 && show.out().find(R"("state":"held")") != std::string::npos;
  });
}

class Hold : public Gated {
 protected:
  ProgramSpec hold(const Words& options) const { return hold_in(store, options); }
  bool is_held() const { return is_held_in(store); }
};

class HoldInRedis : public GatedByRedis {
 protected:
  ProgramSpec hold(const Words& options) const { return hold_in(store, options); }
  bool is_held() const { return is_held_in(store); }
};

TEST_F(Hold, IsTheHolderWithItsReasonUntilCtrlC) {
  // Given
  Program holder(hold({"--for", "1h"}));
  ASSERT_TRUE(is_held()) << holder.err();
  // When
  Program skipped(run({}, {"say", "ran"}));
  // Then
  EXPECT_EQ(skipped.exit_code(), 0);
  EXPECT_EQ(skipped.out(), "");
  EXPECT_THAT(skipped.err(), HasSubstr("held by disk is replaced since"));
  // When
  Program list({.argv = {binary(), "ls", "--store", store}});
  // Then
  EXPECT_EQ(list.exit_code(), 0) << list.err();
  EXPECT_THAT(list.out(), HasSubstr("disk is replaced"));
  // When
  Program release({.argv = {binary(), "release", "job", "--store", store}});
  // Then
  EXPECT_EQ(release.exit_code(), 64) << release.err();
  EXPECT_THAT(release.err(),
              HasSubstr("a lock in a file cannot be revoked (terminate its process"));
  // When
  holder.signal(SIGINT);
  // Then
  EXPECT_EQ(holder.exit_code(), 128 + SIGINT) << holder.err();
  EXPECT_TRUE(lock_is_free());
}

TEST_F(Hold, EndsWithZeroAtItsTime) {
  Program holder(hold({"--for", "1s"}));

  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  EXPECT_TRUE(lock_is_free());
}

TEST_F(Hold, DoesNotTakeALockThatIsHeld) {
  // Given
  Program runs(run({}, {"say", "holding", "await", go()}));
  ASSERT_TRUE(runs.says("holding"));
  // When
  Program refused(hold({"--for", "1h"}));
  // Then
  EXPECT_EQ(refused.exit_code(), 75) << refused.err();
  // When
  Program waits(hold({"--for", "1s", "--on-busy", "wait"}));
  touch(go());
  // Then
  EXPECT_EQ(waits.exit_code(), 0) << waits.err();
}

TEST_F(Hold, VariablesDoNotEndItEarlyOrWithoutTheLock) {
  // Given
  Program runs(run({}, {"say", "holding", "await", go()}));
  ASSERT_TRUE(runs.says("holding"));
  ProgramSpec spec = hold({"--for", "2s"});
  spec.env = {"CRONLATCH_ON_BUSY=skip", "CRONLATCH_EXIT_SKIPPED=0", "CRONLATCH_MAX_RUN=100ms"};
  // When
  Program refused(spec);
  // Then
  EXPECT_EQ(refused.exit_code(), 75) << refused.err();
  // When
  touch(go());
  EXPECT_EQ(runs.exit_code(), 0);
  Program kept(spec);
  // Then
  EXPECT_EQ(kept.exit_code(), 0) << kept.err();
}

// With several slots, other runs would hold the lock during the maintenance.
TEST_F(HoldInRedis, HasOneSlotWhateverTheVariableIs) {
  // Given
  ProgramSpec spec = hold({"--for", "1h"});
  spec.env = {"CRONLATCH_SLOTS=3"};
  Program holder(spec);
  ASSERT_TRUE(is_held()) << holder.err();
  // When
  Program beside(run({"--slots", "3"}, {"say", "ran"}));
  // Then
  EXPECT_EQ(beside.exit_code(), 78) << beside.err();
  EXPECT_EQ(beside.out(), "");
  EXPECT_THAT(beside.err(), HasSubstr("held by disk is replaced"));
  // When
  Program flag(hold({"--for", "1s", "--slots", "3"}));
  // Then
  EXPECT_EQ(flag.exit_code(), 64) << flag.err();
  EXPECT_THAT(flag.err(), HasSubstr("--slots cannot be"));
}

// Otherwise a hold would be skipped, and would record work as done.
TEST_F(HoldInRedis, AnIdentityInAVariableOrAFileHasNoEffect) {
  // Given
  ASSERT_EQ(Program(run({"--once-per", "today"}, {"exit", "0"})).exit_code(), 0);
  ProgramSpec by_variable = hold({"--for", "1s"});
  by_variable.env = {"CRONLATCH_ONCE_PER=today"};
  const std::string config = dir.path("config.yaml");
  std::ofstream(config) << "once-per: tomorrow\nskip-command: [/no/such/program]\n";
  const ProgramSpec by_file = hold({"--for", "1s", "--config", config});
  for (const ProgramSpec& spec : {by_variable, by_file}) {
    // When
    Program kept(spec);
    // Then
    EXPECT_EQ(kept.exit_code(), 0) << kept.err();
  }
  Program work(run({"--once-per", "tomorrow"}, {"say", "ran"}));
  EXPECT_EQ(work.exit_code(), 0);
  EXPECT_THAT(work.out(), HasSubstr("ran")) << "the hold did no work";
}

// Otherwise a hold would wait for the lock, as a retry of the group does.
TEST_F(HoldInRedis, AnAttemptGroupInAVariableHasNoEffect) {
  // Given
  ASSERT_EQ(Program(run({"--attempt-group", "job-uid"}, {"exit", "1"})).exit_code(), 1);
  Program runs(run({}, {"say", "holding", "await", go()}));
  ASSERT_TRUE(runs.says("holding"));
  ProgramSpec spec = hold({"--for", "1s"});
  spec.env = {"CRONLATCH_ATTEMPT_GROUP=job-uid"};
  // When
  Program refused(spec);
  // Then
  EXPECT_EQ(refused.exit_code(), 75) << refused.err();
  EXPECT_THAT(refused.err(), HasSubstr("not started because lock job is held"));
}

TEST_F(Hold, FlagsThatWouldReplaceItsCommandOrItsEndAreRefused) {
  for (const Words& flags :
       {Words{"--once-per", "x"}, Words{"--attempt-group", "x"}, Words{"--on-lost", "warn"},
        Words{"--command-by-arch", R"({"amd64": ["/bin/true"], "arm64": ["/bin/true"]})"}}) {
    Words options = {"--for", "1s"};
    options.insert(options.end(), flags.begin(), flags.end());
    // When
    Program refused(hold(options));
    // Then
    EXPECT_EQ(refused.exit_code(), 64) << flags[0] << refused.err();
    EXPECT_THAT(refused.err(), HasSubstr(flags[0]));
  }
}

TEST_F(HoldInRedis, IsStoppedByARevocationAndReleased) {
  // Given
  ProgramSpec spec = hold({"--for", "1h", "--ttl", "5s"});
  spec.env = {"CRONLATCH_ON_LOST=warn"};  // the hold would succeed without the lock
  Program holder(spec);
  ASSERT_TRUE(is_held()) << holder.err();
  // When
  Program release({.argv = {binary(), "release", "job", "--store", store, "--force"}});
  // Then
  EXPECT_EQ(release.exit_code(), 0) << release.err();
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
  EXPECT_TRUE(lock_is_free());
}

}  // namespace
}  // namespace cronlatch::testing
