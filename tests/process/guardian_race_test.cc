// SPDX-License-Identifier: Apache-2.0
// The guardian reports each change of the command exactly, also where the next one follows before
// it has read the last one. strace delays its calls.
#include <csignal>

#include "gated.h"
#include "proc/descendants.h"

namespace cronlatch::testing {
namespace {

class GuardianRace : public GatedByRedis {
 protected:
  void SetUp() override {
    Program probe({.argv = {"/usr/bin/strace", "-qq", "-o", "/dev/null", "/bin/true"}});
    if (probe.exit_code() != 0) GTEST_SKIP() << "NOT TESTED: no program may be traced here";
  }
  static pid_t guardian_of(const Program& program) {
    const auto tree = descendants_of(program.pid(), {});
    for (const Process& p : tree.value_or(std::vector<Process>{}))
      if (p.parent == program.pid()) return p.pid;
    return 0;
  }
  // A program that delays a call of the guardian, and shows that it does.
  std::unique_ptr<Program> delay(pid_t guardian, const std::string& injection) const {
    const std::string call = injection.substr(0, injection.find(':'));
    auto tracer = std::make_unique<Program>(ProgramSpec{
        .argv = {"/usr/bin/strace", "-o", dir.path("trace"), "-p", std::to_string(guardian), "-e",
                 "trace=" + call, "-e", "inject=" + injection}});
    EXPECT_TRUE(tracer->complains("attached")) << tracer->err();
    return tracer;
  }
};

// Without a terminal nothing reacts to a stop: the guardian has to report it, and the exit.
TEST_F(GuardianRace, OfACommandThatIsStoppedContinuedAndEndedAtOnce) {
  for (const std::string when : {"delay_enter", "delay_exit"}) {
    // Given
    Program program(run({}, {"on", "10", "[", "exit", "6", "]", "ids", "say", "up", "forever"}));
    ASSERT_TRUE(program.says("up")) << program.err();
    const pid_t command = program.pid_after("ids pid=");
    const auto tracer = delay(guardian_of(program), "waitid:" + when + "=300000");
    // When
    ::kill(command, SIGSTOP);
    ASSERT_TRUE(eventually([&] { return !read_file(dir.path("trace")).empty(); }));
    ::kill(command, SIGUSR1);
    ::kill(command, SIGCONT);
    // Then
    EXPECT_EQ(program.exit_code(), 6) << program.err();
  }
}

// The exit code has been reported, so it is not lost with the guardian.
TEST_F(GuardianRace, OfAnExitWithTheDeathOfTheGuardian) {
  // Given a guardian that takes long to reap
  Program program(run({}, {"say", "up", "await", go(), "exit", "6"}));
  ASSERT_TRUE(program.says("up")) << program.err();
  const pid_t guardian = guardian_of(program);
  const auto tracer = delay(guardian, "wait4:delay_enter=2000000");
  // When
  touch(go());
  ASSERT_TRUE(eventually([&] {
    const auto tree = descendants_of(program.pid(), {});
    return tree && tree->size() == 2 && !tree->front().alive;
  }));
  ASSERT_TRUE(eventually([&] { return !read_file(dir.path("trace")).empty(); }));
  ::kill(guardian, SIGKILL);
  // Then
  EXPECT_EQ(program.exit_code(), 6) << program.err();
  EXPECT_TRUE(lock_is_free());
}

// A guardian that neither ends nor stops, and does not answer.
TEST_F(GuardianRace, S1_OfAGuardianThatDoesNotAnswerWithTheEndOfTheLease) {
  constexpr std::int64_t kTtlUs = 5'000'000, kMarginUs = 750'000;
  // Given
  Program program(
      run({"--ttl", "5s", "--kill-after", "200ms"}, {"to", file(), "on", "15", "[", "]", "beat"}));
  ASSERT_TRUE(told("beat")) << program.err();
  const pid_t guardian = guardian_of(program);
  auto tracer = delay(guardian, "recvfrom:delay_enter=60000000");
  // When
  const std::int64_t killed = boottime_us();
  redis->kill_now();
  ASSERT_TRUE(eventually([&] { return boottime_us() > killed + kTtlUs; }));
  // Then: strace does not let the guardian end
  tracer.reset();
  EXPECT_EQ(program.exit_code(), 79) << program.err();
  const std::string text = read_file(file());
  EXPECT_LE(std::atoll(text.c_str() + text.rfind("beat ") + 5), killed + kTtlUs - kMarginUs);
}

}  // namespace
}  // namespace cronlatch::testing
