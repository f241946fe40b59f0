// SPDX-License-Identifier: Apache-2.0
// The guardian as a process: where it is started, what it contains, and what it passes to the
// command and reports about it.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "guardian.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using GuardianProcess = GuardianTest;

TEST_F(GuardianProcess, IgnoresEveryOtherSignal) {
  // Given
  Program program(run({}, {"say", "up", "await", go(), "exit", "3"}));
  ASSERT_TRUE(program.says("up"));
  const pid_t guardian = guardian_of(program);
  ASSERT_GT(guardian, 1);
  // When
  for (const int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGPIPE, SIGALRM})
    ::kill(guardian, signo);
  touch(go());
  // Then
  EXPECT_EQ(program.exit_code(), 3) << program.err();
}

TEST_F(GuardianProcess, IsTheParentOfTheCommand) {
  Program program(run({}, {"ids", "say", "up", "forever"}));
  ASSERT_TRUE(program.says("up"));
  EXPECT_EQ(program.word_after("ppid="), std::to_string(guardian_of(program)));
}

TEST_F(GuardianProcess, IsNotStartedWhereItIsNotNeeded) {
  const auto parent = [](Program& program) {
    EXPECT_TRUE(program.says("up")) << program.err();
    return program.word_after("ppid=");
  };
  const Words words = {"ids", "say", "up", "forever"};
  // The option.
  Program off(run({"--guardian", "off"}, words));
  EXPECT_EQ(parent(off), std::to_string(off.pid()));
  // No lease.
  Words with_file = run_words({}, words);
  *std::find(with_file.begin(), with_file.end(), store) = "file://" + dir.path("locks");
  Program file_store({.argv = with_file});
  EXPECT_EQ(parent(file_store), std::to_string(file_store.pid()));
  // The first process of a PID namespace.
  if (!is_permitted(kAsFirstProcess)) GTEST_SKIP() << "NOT TESTED: no PID namespace here";
  ProgramSpec spec = run_in(kAsFirstProcess, {}, words);
  *std::find(spec.argv.begin(), spec.argv.end(), "job") = "other";
  Program first(spec);
  EXPECT_EQ(parent(first), "1");
}

TEST_F(GuardianProcess, EndsWithTheRunAndLeavesWhatLeftoversLeaveLeaves) {
  // Given
  Program program(run({"--leftovers", "leave"},
                      {"to", file(), "daemon", "[", "ids", "touch", dir.path("up"), "await", go(),
                       "say", "left", "exit", "0", "]", "await", dir.path("up"), "exit", "3"}));
  // When
  const auto code = program.exit_code();
  touch(go());
  // Then
  EXPECT_EQ(code, 3) << program.err();
  EXPECT_TRUE(told("left"));
}

// An inner guardian that outlived its run would be a background process of the outer one.
TEST_F(GuardianProcess, OfANestedRunIsNoBackgroundProcessOfTheOuterRun) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    Words argv = {binary(), "run", "--lock", "outer", "--store", store, "--"};
    const Words inner = run_words({}, {"exit", "4"});
    argv.insert(argv.end(), inner.begin(), inner.end());
    Program program({.argv = argv});
    ASSERT_EQ(program.exit_code(), 4) << program.err();
    ASSERT_THAT(program.err(), Not(HasSubstr("background processes")));
  }
}

TEST_F(GuardianProcess, OfANestedRunEndsWithTheOuterWrapper) {
  // Given
  Words argv = {binary(), "run", "--lock", "outer", "--store", store, "--"};
  const Words inner = run_words({}, crowd());
  argv.insert(argv.end(), inner.begin(), inner.end());
  Program program({.argv = argv});
  ASSERT_TRUE(is_up()) << program.err();
  const std::vector<Process> tree = tree_of(program.pid());
  ASSERT_EQ(tree.size(), 5U);
  // When
  program.signal(SIGKILL);
  // Then
  EXPECT_TRUE(all_ended(tree));
}

TEST_F(GuardianProcess, HasNoSecretAndNoConnection) {
  const std::string secret = "canary-password-7d1f";
  ASSERT_FALSE(redis_command(redis->port(), {"CONFIG", "SET", "requirepass", secret}).is_error());
  // Given
  ProgramSpec spec = run({}, {"say", "up", "forever"});
  spec.env.push_back("CRONLATCH_PASSWORD=" + secret);
  Program program(spec);
  ASSERT_TRUE(program.says("up")) << program.err();
  const pid_t guardian = guardian_of(program);
  ASSERT_GT(guardian, 1);
  // When
  const std::string of_guardian = "/proc/" + std::to_string(guardian);
  std::string memory;
  const Fd mem(::open((of_guardian + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (!mem) GTEST_SKIP() << "NOT TESTED: the memory of another process cannot be read here";
  std::ifstream maps(of_guardian + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-');
    const auto from = std::stoull(line.substr(0, dash), nullptr, 16);
    const auto to = std::stoull(line.substr(dash + 1), nullptr, 16);
    std::string part(to - from, '\0');
    const ssize_t n = ::pread(mem.get(), part.data(), part.size(), static_cast<off_t>(from));
    if (n > 0) memory.append(part, 0, static_cast<std::size_t>(n));
  }
  std::size_t sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(of_guardian + "/fd"))
    if (std::filesystem::read_symlink(entry).string().starts_with("socket:")) ++sockets;
  // Then
  EXPECT_GT(memory.size(), 1'000'000U);
  EXPECT_EQ(memory.find(secret), std::string::npos);
  EXPECT_EQ(proc_file(guardian, "environ"), "");
  EXPECT_THAT(proc_file(program.pid(), "environ"), ::testing::HasSubstr("CRONLATCH_PASSWORD="));
  EXPECT_EQ(proc_file(program.pid(), "environ").find(secret), std::string::npos);
  EXPECT_EQ(sockets, 1U) << "the channel to the wrapper";
}

TEST_F(GuardianProcess, GivesTheCommandNoDescriptor) {
  // Given
  Program program(run({}, {"fds", "exit", "0"}));
  ASSERT_EQ(program.exit_code(), 0) << program.err();
  Program alone({.argv = {talking_child(), "fds", "exit", "0"}});
  ASSERT_EQ(alone.exit_code(), 0);
  EXPECT_EQ(program.out(), alone.out());
}

TEST_F(GuardianProcess, GivesTheCommandTheSignalsOfTheWrapper) {
  // Given
  std::vector<std::string> outputs;
  for (const std::string guardian : {"auto", "off"}) {
    ProgramSpec spec = run({"--guardian", guardian}, {"signals", "exit", "0"});
    spec.ignored = {SIGHUP, SIGINT, SIGPIPE, SIGCHLD};
    spec.blocked = {SIGUSR1};
    // When
    Program program(spec);
    ASSERT_EQ(program.exit_code(), 0) << program.err();
    outputs.push_back(program.out());
  }
  // Then
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_NE(outputs[0], "");
}

TEST_F(GuardianProcess, PassesArgumentsAndEnvironmentOfAnySize) {
  // Given more than a socket buffer
  const std::string large(100'000, 'x');
  ProgramSpec spec = run({}, {"env", "LARGE3", "exit", "3"});
  for (int i = 0; i < 10; ++i) spec.env.push_back("LARGE" + std::to_string(i) + "=" + large);
  // When
  Program program(spec);
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 3) << program.err();
  EXPECT_THAT(program.out(), HasSubstr(large));
}

TEST_F(GuardianProcess, ReportsACommandThatCannotBeExecuted) {
  std::ofstream(dir.path("script")) << "#!/no/such/interpreter\n";
  ::chmod(dir.path("script").c_str(), 0755);
  // Given
  Words argv = run_words({}, {});
  *std::find(argv.begin(), argv.end(), talking_child()) = dir.path("script");
  Program program({.argv = argv});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 127) << program.err();
  EXPECT_TRUE(lock_is_free());
}

TEST_F(GuardianProcess, ReportsACommandThatASignalEnds) {
  Program program(run({}, {"die", "9"}));
  EXPECT_EQ(program.exit_code(), 137) << program.err();
}

}  // namespace
}  // namespace cronlatch::testing
