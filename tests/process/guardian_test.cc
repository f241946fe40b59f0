// SPDX-License-Identifier: Apache-2.0
// The guardian of a run with a lease: what happens when the wrapper or the guardian is killed or
// stopped, and what the guardian contains.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/fd.h"
#include "gated.h"
#include "proc/descendants.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Words kWithoutPrivileges = {"/usr/bin/setpriv", "--reuid", "65534",
                                  "--regid",          "65534",   "--clear-groups"};
const Words kAsFirstProcess = {"/usr/bin/unshare", "-p", "-f", "--mount-proc"};

// The children of a process, zombies included.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const Process& p : descendants_of(parent, {}).value_or(std::vector<Process>{}))
    if (p.parent == parent) children.push_back(p.pid);
  return children;
}

std::string proc_file(pid_t pid, const std::string& name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + name);
}

bool is_guardian(pid_t pid) { return proc_file(pid, "comm") == "cronlatch-guard\n"; }

class Guardian : public GatedByRedis {
 protected:
  Guardian() { ::chmod(dir.path().c_str(), 0777); }

  // The command writes into the file, as does a process that has left its session, and has closed
  // every descriptor that it inherited.
  Words crowd() const {
    return {"to", file(), "daemon", "[", "to", file() + "2", "close", "touch", go(), "beat",
            "]",  "on",   "15",     "[", "]",  "await",      go(),    "say",   "up", "beat"};
  }
  std::int64_t last_beat(const std::string& of) const {
    const std::string text = read_file(of);
    const std::size_t at = text.rfind("beat ");
    return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + 5);
  }
  std::int64_t last_beat() const { return std::max(last_beat(file()), last_beat(file() + "2")); }
  // Both beat.
  bool is_up() const {
    return eventually([&] { return last_beat(file()) > 0 && last_beat(file() + "2") > 0; });
  }
  static pid_t guardian_of(const Program& program) {
    for (const pid_t child : children_of(program.pid()))
      if (is_guardian(child)) return child;
    return 0;
  }
  // Every process of the run, itself included.
  static std::vector<Process> tree_of(pid_t root) {
    return descendants_of(root, {}).value_or(std::vector<Process>{});
  }
  static bool is_alive_now(const Process& process) {
    const std::optional<Process> now = read_process(process.pid);
    return now && now->same_as(process) && now->alive;
  }
  static bool all_ended(const std::vector<Process>& tree,
                        std::chrono::milliseconds limit = kPatience) {
    return eventually([&] { return std::none_of(tree.begin(), tree.end(), is_alive_now); }, limit);
  }
  static bool is_permitted(Words surroundings) {
    surroundings.push_back("/bin/true");
    return Program({.argv = surroundings}).exit_code() == 0;
  }
  ProgramSpec run_in(const Words& surroundings, const Words& options, const Words& words) const {
    ProgramSpec spec = run(options, words);
    spec.argv.insert(spec.argv.begin(), surroundings.begin(), surroundings.end());
    return spec;
  }

  void ends_the_tree_when_the_wrapper_is_killed(const Words& surroundings) {
    if (!is_permitted(surroundings)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    // Given
    Program program(run_in(surroundings, {}, crowd()));
    ASSERT_TRUE(is_up()) << program.err();
    const std::vector<Process> tree = tree_of(program.pid());
    ASSERT_EQ(tree.size(), 3U) << "guardian, command, daemon";
    // When
    const std::int64_t killed = boottime_us();
    program.signal(SIGKILL);
    // Then
    EXPECT_TRUE(all_ended(tree));
    std::printf("the tree ended %lld ms after the wrapper was killed\n",
                static_cast<long long>((boottime_us() - killed) / 1000));
    EXPECT_LT(last_beat(), killed + 1'000'000);
  }
  void ends_the_run(int signo, const Words& surroundings) {
    if (!is_permitted(surroundings)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    // Given
    Program program(run_in(surroundings, {"--outcome-file", dir.path("outcome")}, crowd()));
    ASSERT_TRUE(is_up()) << program.err();
    const std::vector<Process> tree = tree_of(program.pid());
    const pid_t guardian = guardian_of(program);
    ASSERT_GT(guardian, 1);
    // When
    ::kill(guardian, signo);
    const auto code = program.exit_code();
    const bool some_live = std::any_of(tree.begin(), tree.end(), is_alive_now);
    // Then: the lock is free as soon as the tree has ended
    EXPECT_EQ(code, 79) << program.err();
    EXPECT_FALSE(some_live);
    EXPECT_THAT(program.err(), HasSubstr("the guardian of the command ended or was stopped"));
    EXPECT_THAT(read_file(dir.path("outcome")), HasSubstr("\"reason\":\"guardian\""));
    EXPECT_TRUE(lock_is_free());
  }
};

TEST_F(Guardian, S1_EndsTheTreeWhenTheWrapperIsKilled) {
  ends_the_tree_when_the_wrapper_is_killed({"/usr/bin/env"});
}
TEST_F(Guardian, S1_EndsTheTreeWithoutACgroupWhenTheWrapperIsKilled) {
  ends_the_tree_when_the_wrapper_is_killed(kWithoutPrivileges);
}

TEST_F(Guardian, EndsTheTreeWhenTheWrapperIsKilledWhileItWasStopped) {
  // Given
  Program program(run({}, crowd()));
  ASSERT_TRUE(is_up()) << program.err();
  const std::vector<Process> tree = tree_of(program.pid());
  program.signal(SIGSTOP);
  ASSERT_TRUE(program.stopped());
  // When
  program.signal(SIGKILL);
  // Then
  EXPECT_TRUE(all_ended(tree));
}

// As a user without privileges, so that no cgroup helps.
TEST_F(Guardian, S1_EndsTheTreeOfAStoppedWrapperBeforeTheNextGrant) {
  if (!is_permitted(kWithoutPrivileges)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  constexpr std::int64_t kTtlUs = 5'000'000, kMarginUs = 750'000;
  // Given
  Program program(run_in(kWithoutPrivileges, {"--ttl", "5s", "--kill-after", "300ms"}, crowd()));
  ASSERT_TRUE(is_up()) << program.err();
  Program next(
      run({"--on-busy", "wait", "--ttl", "5s"}, {"to", file() + "3", "beats", "next", "0"}));
  // When
  program.signal(SIGSTOP);
  ASSERT_TRUE(program.stopped());
  const std::int64_t stopped = boottime_us();
  // Then: the last renewal was sent before the stop
  EXPECT_EQ(next.exit_code(), 0) << next.err();
  const std::int64_t ended = last_beat();
  const std::string granted = read_file(file() + "3");
  std::printf("the tree ended %lld ms after the wrapper was stopped\n",
              static_cast<long long>((ended - stopped) / 1000));
  EXPECT_LE(ended, stopped + kTtlUs - kMarginUs);
  ASSERT_THAT(granted, HasSubstr("next "));
  EXPECT_LT(ended, std::atoll(granted.c_str() + granted.find("next ") + 5));
  program.signal(SIGCONT);
  EXPECT_EQ(program.exit_code(), 79) << program.err();
}

TEST_F(Guardian, LeavesTheCommandAloneWhenTheWrapperIsStoppedForAShortTime) {
  // Given
  Program program(run({"--ttl", "30s"}, {"say", "up", "await", go(), "exit", "3"}));
  ASSERT_TRUE(program.says("up"));
  // When
  program.signal(SIGSTOP);
  ASSERT_TRUE(program.stopped());
  program.signal(SIGCONT);
  touch(go());
  // Then
  EXPECT_EQ(program.exit_code(), 3) << program.err();
}

// The kill time moves with each renewal.
TEST_F(Guardian, LeavesTheCommandAloneForLongerThanALease) {
  // Given
  Program program(run({"--ttl", "5s"}, {"sleep", "6000", "exit", "3"}));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 3) << program.err();
}

TEST_F(Guardian, S5_ThatIsKilledEndsTheRun) { ends_the_run(SIGKILL, {"/usr/bin/env"}); }
TEST_F(Guardian, S5_ThatIsKilledEndsTheRunWithoutACgroup) {
  ends_the_run(SIGKILL, kWithoutPrivileges);
}
TEST_F(Guardian, S5_ThatIsStoppedEndsTheRun) { ends_the_run(SIGSTOP, {"/usr/bin/env"}); }
TEST_F(Guardian, S5_ThatIsStoppedEndsTheRunWithoutACgroup) {
  ends_the_run(SIGSTOP, kWithoutPrivileges);
}

TEST_F(Guardian, IgnoresEveryOtherSignal) {
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

TEST_F(Guardian, IsTheParentOfTheCommand) {
  Program program(run({}, {"ids", "say", "up", "forever"}));
  ASSERT_TRUE(program.says("up"));
  EXPECT_EQ(program.word_after("ppid="), std::to_string(guardian_of(program)));
}

TEST_F(Guardian, IsNotStartedWhereItIsNotNeeded) {
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

TEST_F(Guardian, EndsWithTheRunAndLeavesWhatLeftoversLeaveLeaves) {
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
TEST_F(Guardian, OfANestedRunIsNoBackgroundProcessOfTheOuterRun) {
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

TEST_F(Guardian, OfANestedRunEndsWithTheOuterWrapper) {
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

TEST_F(Guardian, HasNoSecretAndNoConnection) {
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
  EXPECT_EQ(sockets, 1U) << "the channel to the wrapper";
}

TEST_F(Guardian, GivesTheCommandNoDescriptor) {
  // Given
  Program program(run({}, {"fds", "exit", "0"}));
  ASSERT_EQ(program.exit_code(), 0) << program.err();
  Program alone({.argv = {talking_child(), "fds", "exit", "0"}});
  ASSERT_EQ(alone.exit_code(), 0);
  EXPECT_EQ(program.out(), alone.out());
}

TEST_F(Guardian, GivesTheCommandTheSignalsOfTheWrapper) {
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

TEST_F(Guardian, PassesArgumentsAndEnvironmentOfAnySize) {
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

TEST_F(Guardian, ReportsACommandThatCannotBeExecuted) {
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

TEST_F(Guardian, ReportsACommandThatASignalEnds) {
  Program program(run({}, {"die", "9"}));
  EXPECT_EQ(program.exit_code(), 137) << program.err();
}

}  // namespace
}  // namespace cronlatch::testing
