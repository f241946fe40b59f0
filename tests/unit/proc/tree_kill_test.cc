// SPDX-License-Identifier: Apache-2.0
// One SIGKILL to the tree against commands that fork while it is on its way.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "proc/own_cgroup.h"
#include "proc/posix_supervisor.h"
#include "signals.h"
#include "support/long_tests.h"
#include "support/program.h"

namespace cronlatch {
namespace {

using testing::eventually;
using testing::exists;
using testing::is_alive;
using testing::read_file;
using testing::ScratchDir;
using testing::talking_child;

using namespace std::chrono_literals;

constexpr int kRounds = 25;

class TreeKill : public ::testing::Test {
 protected:
  // Without the file a chain that has survived ends by itself.
  ~TreeKill() override { std::filesystem::remove(chain()); }

  std::string chain() const { return dir.path("chain"); }

  // The command is started, and the words have been carried out.
  static void start(PosixSupervisor& supervisor, const ScratchDir& dir,
                    std::vector<std::string> words) {
    std::filesystem::remove(dir.path("up"));
    words.insert(words.begin(), {talking_child(), "to", dir.path("output")});
    words.insert(words.end(), {"touch", dir.path("up"), "forever"});
    supervisor.start({talking_child(), words, {"PATH=/usr/bin:/bin"}}, -1);
    ASSERT_TRUE(eventually([&] { return exists(dir.path("up")); }));
  }
  // Everything has been reaped, without another signal.
  static bool ends(PosixSupervisor& supervisor) {
    return ends_within(supervisor, testing::kPatience);
  }
  static bool ends_within(PosixSupervisor& supervisor, std::chrono::milliseconds limit) {
    bool empty = false;
    return eventually(
        [&] {
          while (const auto fact = supervisor.next()) {
            if (std::holds_alternative<TreeEmpty>(*fact)) empty = true;
            if (const auto* exited = std::get_if<ChildExited>(&*fact); exited != nullptr)
              empty = empty || exited->tree_empty;
          }
          return empty;
        },
        limit);
  }

  // As Run does: until everything has been reaped, or the repetitions are more than `most`.
  static void kill_repeatedly(PosixSupervisor& supervisor, int& repeated, int most) {
    supervisor.signal(SIGKILL, Target::tree);
    while (!ends_within(supervisor, 1s) && ++repeated <= most)
      supervisor.signal(SIGKILL, Target::tree);
  }

  pid_t told_pid(const std::string& key) const {
    const std::string text = read_file(dir.path("output"));
    const std::size_t at = text.rfind(key);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + key.size());
  }
  // The oldest child: what was started.
  static pid_t command_pid() {
    const std::vector<pid_t> children = own_children();
    return children.empty() ? 0 : children.front();
  }
  bool says(const std::string& text) const {
    return eventually(
        [&] { return read_file(dir.path("output")).find(text) != std::string::npos; });
  }
  // Its path in cgroup v2.
  static std::string cgroup_of(pid_t pid) {
    const std::string text = "\n" + read_file("/proc/" + std::to_string(pid) + "/cgroup");
    const std::size_t at = text.find("\n0::");
    return at == std::string::npos ? "" : text.substr(at + 4, text.find('\n', at + 4) - at - 4);
  }
  static std::string directory_of(const std::string& cgroup) {
    const bool hybrid = exists("/sys/fs/cgroup/unified");
    return (hybrid ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup") + cgroup;
  }
  static void join_cgroup(pid_t pid, const std::string& cgroup) {
    std::ofstream(directory_of(cgroup) + "/cgroup.procs") << pid << std::flush;
  }

  testing::KeepsSignals keeps;
  ScratchDir dir;
  SignalReader gate = *SignalReader::open();
};

// A sweep through /proc is likely to end them, not certain, and less likely beside thousands of
// other processes. Run repeats it, ten times within the time that a lease leaves for it.
TEST_F(TreeKill, EndsAChainOfProcessesThatForkAndExitWithoutPause) {
  constexpr int kRepeated = 10;
  for (int round = 0; round < kRounds; ++round) {
    // Given
    int repeated = 0;
    PosixSupervisor supervisor(gate);
    start(supervisor, dir, {"chain", chain()});
    // When, then
    kill_repeatedly(supervisor, repeated, kRepeated);
    ASSERT_LE(repeated, kRepeated) << "in round " << round;
  }
}

TEST_F(TreeKill, EndsSuchAChainInACgroupOfItsOwn) {
  if (!OwnCgroup::create()) GTEST_SKIP() << "NOT TESTED: no cgroup can be created here";
  for (int round = 0; round < kRounds; ++round) {
    // Given
    PosixSupervisor supervisor(gate, Containment::cgroup);
    start(supervisor, dir, {"chain", chain()});
    ASSERT_NE(cgroup_of(command_pid()), cgroup_of(::getpid()));
    // When
    supervisor.signal(SIGKILL, Target::tree);
    // Then
    ASSERT_TRUE(ends(supervisor)) << "in round " << round;
  }
}

TEST_F(TreeKill, EndsProcessesThatHaveLeftTheCgroup) {
  const auto other = OwnCgroup::create();
  if (!other) GTEST_SKIP() << "NOT TESTED: no cgroup can be created here";
  // Given
  PosixSupervisor supervisor(gate, Containment::cgroup);
  start(supervisor, dir, {"daemon", "[", "ids", "forever", "]", "sleep", "1"});
  ASSERT_TRUE(eventually([&] { return told_pid("ids pid=") > 1; }));
  const pid_t daemon = told_pid("ids pid=");
  // When
  join_cgroup(daemon, cgroup_of(::getpid()));
  ASSERT_EQ(cgroup_of(daemon), cgroup_of(::getpid()));
  supervisor.signal(SIGKILL, Target::tree);
  for (int round = 0; round < 5 && !ends_within(supervisor, 100ms); ++round)
    supervisor.signal(SIGKILL, Target::tree);
  // Then
  EXPECT_FALSE(is_alive(daemon));
}

TEST_F(TreeKill, LeavesNoCgroupBehind) {
  if (!OwnCgroup::create()) GTEST_SKIP() << "NOT TESTED: no cgroup can be created here";
  std::string path;
  {
    // Given a nested cgroup, as a nested run that was killed leaves it
    PosixSupervisor supervisor(gate, Containment::cgroup);
    start(supervisor, dir, {"spawn", "[", "forever", "]"});
    path = directory_of(cgroup_of(command_pid()));
    ASSERT_TRUE(exists(path)) << path;
    std::filesystem::create_directory(path + "/nested");
    // When
    supervisor.signal(SIGKILL, Target::tree);
    ASSERT_TRUE(ends(supervisor));
  }
  // Then
  EXPECT_FALSE(exists(path)) << path;
}

TEST_F(TreeKill, LeavesNoCgroupOfARunThatWasKilled) {
  const std::string abandoned = directory_of(cgroup_of(::getpid())) + "/cronlatch-999999999";
  if (!OwnCgroup::create() || ::mkdir(abandoned.c_str(), 0755) != 0)
    GTEST_SKIP() << "NOT TESTED: no cgroup can be created here";
  // When
  const auto own = OwnCgroup::create();
  // Then
  EXPECT_TRUE(own);
  EXPECT_FALSE(exists(abandoned));
}

// More processes than any scan could signal one by one while they fork.
TEST_F(TreeKill, EndsACrowdInTheCommandsGroup) {
  for (const Containment containment : {Containment::none, Containment::cgroup}) {
    // Given
    PosixSupervisor supervisor(gate, containment);
    start(supervisor, dir, {"crowd", "1000"});
    // When
    supervisor.signal(SIGKILL, Target::tree);
    // Then
    EXPECT_TRUE(ends(supervisor));
  }
}

TEST_F(TreeKill, EndsACrowdOfWhichEachHasASessionOfItsOwn) {
  for (const Containment containment : {Containment::none, Containment::cgroup}) {
    // Given
    PosixSupervisor supervisor(gate, containment);
    start(supervisor, dir, {"sessions", "crowd", "1000"});
    // When
    supervisor.signal(SIGKILL, Target::tree);
    // Then
    EXPECT_TRUE(ends(supervisor));
  }
}

// From this count Run derives how early it has to send the kill (Timings and Run in unit/core).
TEST_F(TreeKill, CountsTheProcessesOfACrowdForTheTimeOfTheKill) {
  constexpr std::size_t kCrowd = 600;
  const auto count = [](PosixSupervisor& supervisor) {
    supervisor.count_tasks();
    std::size_t tasks = 0;
    while (const auto fact = supervisor.next())
      if (const auto* counted = std::get_if<TasksCounted>(&*fact)) tasks = counted->tasks;
    return tasks;
  };
  // Other processes of the host start and end in the meantime, hundreds with a compiler beside the
  // tests. The count before and the count after bound their number in most tries.
  bool counted = false;
  for (int attempt = 0; attempt < 5 && !counted; ++attempt) {
    // Given
    PosixSupervisor supervisor(gate, Containment::none);
    const std::size_t before = count(supervisor);
    ASSERT_GT(before, 0u);
    // When
    start(supervisor, dir, {"crowd", std::to_string(kCrowd)});
    const std::size_t with_crowd = count(supervisor);
    supervisor.signal(SIGKILL, Target::tree);
    ASSERT_TRUE(ends(supervisor));
    // Then
    counted = with_crowd >= std::min(before, count(supervisor)) + kCrowd;
  }
  EXPECT_TRUE(counted);
}

// The promise is one second with 30,000 processes (a long run) on a machine that has nothing else
// to do; what a test can hold on any machine is the cost beside the kernel's own.
TEST_F(TreeKill, ReapsACrowdNearlyAsFastAsTheKernelEndsIt) {
  const std::string count = testing::is_long_run() ? "30000" : "2000";
  const auto microseconds_of = [&](Containment containment, bool bare) {
    PosixSupervisor supervisor(gate, containment);
    start(supervisor, dir, {"crowd", count});
    EXPECT_TRUE(says("crowd of " + count));
    const pid_t group = command_pid();
    const std::int64_t before = testing::boottime_us();
    if (bare)
      ::killpg(group, SIGKILL);
    else
      supervisor.signal(SIGKILL, Target::tree);
    EXPECT_TRUE(ends(supervisor));
    return testing::boottime_us() - before;
  };
  // When
  const auto bare = microseconds_of(Containment::none, true);
  const auto swept = microseconds_of(Containment::none, false);
  const auto in_cgroup = microseconds_of(Containment::cgroup, false);
  std::printf("%s processes: bare %lld ms, swept %lld ms, cgroup %lld ms\n", count.c_str(),
              static_cast<long long>(bare / 1000), static_cast<long long>(swept / 1000),
              static_cast<long long>(in_cgroup / 1000));
  // Then
  constexpr int kTimes = 5;
  EXPECT_LT(swept, kTimes * bare);
  EXPECT_LT(in_cgroup, kTimes * bare);
}

TEST_F(TreeKill, EndsProcessesThatReplaceEachOther) {
  // Given a process that starts another one whenever one of its children ends
  PosixSupervisor supervisor(gate);
  start(supervisor, dir, {"spawn", "[", "replace", "]", "spawn", "[", "replace", "]"});
  // When
  int repeated = 0;
  kill_repeatedly(supervisor, repeated, 2);
  // Then
  EXPECT_LE(repeated, 2);
}

TEST_F(TreeKill, EveryOtherSignalReachesSessionsOfTheirOwn) {
  for (const Containment containment : {Containment::none, Containment::cgroup}) {
    // Given
    PosixSupervisor supervisor(gate, containment);
    std::filesystem::remove(dir.path("output"));
    start(supervisor, dir,
          {"daemon", "[", "on", "10", "[", "say", "usr1", "]", "on", "15", "[", "say", "term", "]",
           "ids", "forever", "]"});
    ASSERT_TRUE(eventually([&] { return told_pid("ids pid=") > 1; }));
    // When
    supervisor.signal(SIGUSR1, Target::tree);
    const bool first = says("usr1");
    supervisor.signal(SIGSTOP, Target::tree);
    supervisor.signal(SIGTERM, Target::tree);
    supervisor.signal(SIGCONT, Target::tree);
    const bool then = says("term");
    supervisor.signal(SIGKILL, Target::tree);
    // Then
    EXPECT_TRUE(first);
    EXPECT_TRUE(then);
    EXPECT_TRUE(ends(supervisor));
  }
}

}  // namespace
}  // namespace cronlatch
