// SPDX-License-Identifier: Apache-2.0
// A run identity that is done, and a store that is unavailable when the command exits.
#include <fcntl.h>
#include <sys/file.h>

#include <utility>

#include "base/fd.h"
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Mark : public GatedByRedis {
 protected:
  // Starts a run of identity "tick" that exits with 0 when `go` is there.
  ProgramSpec tick(const Words& more = {}) const {
    Words options = {"--ttl",      "5s",   "--job",          "a/b",
                     "--once-per", "tick", "--outcome-file", dir.path("outcome")};
    options.insert(options.end(), more.begin(), more.end());
    return run(options, {"to", file(), "say", "worked", "await", go()});
  }
  std::string outcome() const { return read_file(dir.path("outcome")); }
};

class MarkOfAFile : public Gated {
 protected:
  ProgramSpec tick(const Words& more = {}) const {
    Words options = {"--ttl", "5s", "--once-per", "tick"};
    options.insert(options.end(), more.begin(), more.end());
    return run(options, {"to", file(), "say", "worked", "await", go()});
  }
  // The file of the lock, if the kernel grants its lock to this test.
  Fd locked(const std::string& suffix) const {
    Fd opened(open((dir.path("locks/job") + suffix).c_str(), O_RDWR | O_CLOEXEC));
    return flock(opened.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(opened) : Fd();
  }
};

TEST_F(Mark, IsWrittenWhenTheStoreComesBackAfterTheLease) {
  // Given a store that stops answering just before the command exits
  Program first(tick());
  ASSERT_TRUE(told("worked"));
  redis->pause();
  touch(go());
  ASSERT_TRUE(first.complains("is done, but")) << first.err();
  // When it is back only after the release of a run without an identity would have been given up,
  // and after the lease
  const std::int64_t paused = boottime_us();
  ASSERT_TRUE(eventually([&] { return boottime_us() > paused + 7'000'000; }, 30s));
  redis->resume();
  // Then the work is not done a second time
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  EXPECT_THAT(outcome(), Not(HasSubstr("not_marked")));
  Program second(tick());
  EXPECT_EQ(second.exit_code(), 0);
  EXPECT_THAT(second.err(), HasSubstr("already done"));
  EXPECT_EQ(count(read_file(file()), "worked"), 1u);
}

TEST_F(Mark, ThatCannotBeWrittenIsReportedAndTheGracePeriodIsKept) {
  // Given
  Program program(tick({"--grace-period", "3s"}));
  ASSERT_TRUE(told("worked"));
  redis->pause();
  touch(go());
  ASSERT_TRUE(program.complains("is done, but")) << program.err();
  // When the pod is deleted
  const std::int64_t terminated = boottime_us();
  program.signal(SIGTERM);
  const auto code = program.exit_code();
  // Then it ends before it would be killed
  EXPECT_LT(boottime_us() - terminated, 3'000'000);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(program.err(), HasSubstr("could not be recorded in the store"));
  EXPECT_THAT(outcome(), HasSubstr("\"not_marked\":true"));
  redis->resume();
}

TEST_F(Mark, ThatCannotBeWrittenIsInTheMetrics) {
  // Given
  Program program(tick({"--grace-period", "3s", "--metrics-file", dir.path("metrics.prom")}));
  ASSERT_TRUE(told("worked"));
  redis->pause();
  touch(go());
  ASSERT_TRUE(program.complains("is done, but")) << program.err();
  // When
  program.signal(SIGTERM);
  // Then
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_THAT(read_file(dir.path("metrics.prom")), HasSubstr("reason=\"not_marked\"} 1"));
  redis->resume();
}

// The kernel lock of a file store excludes other runs as long as the mark is missing.
TEST_F(MarkOfAFile, IsWrittenBeforeAWaitingRunIsGranted) {
  Program first(tick());
  ASSERT_TRUE(told("worked"));
  Program second(tick({"--on-busy", "wait", "--connect-timeout", "60s"}));
  ASSERT_TRUE(second.complains("waiting for lock")) << second.err();
  // When the first release fails, because another process has the mutex
  const Fd mutex = locked(".mutex");
  ASSERT_GE(mutex.get(), 0);
  touch(go());
  ASSERT_TRUE(first.complains("is done, but")) << first.err();
  // Then
  EXPECT_LT(locked(".lock").get(), 0) << "the lock is free without a mark";
  ASSERT_EQ(flock(mutex.get(), LOCK_UN), 0);
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  EXPECT_EQ(second.exit_code(), 0) << second.err();
  EXPECT_THAT(second.err(), HasSubstr("already done"));
  EXPECT_EQ(count(read_file(file()), "worked"), 1u);
}

}  // namespace
}  // namespace cronlatch::testing
