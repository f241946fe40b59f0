// SPDX-License-Identifier: Apache-2.0
// drive: the order in which facts reach Run, and that what Run orders is done. The store is
// scripted, the supervisor a fake; descriptors and time are real.
#include "proc/drive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <functional>
#include <map>

#include "base/fd.h"
#include "base/kernel_clock.h"
#include "support/run_driver.h"

namespace cronlatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using Journal = std::vector<std::string>;

std::string name_of(const Request& request) {
  static constexpr const char* kNames[] = {"acquire", "renew", "release"};
  return kNames[request.index()];
}

// Answers each verb from a list, at once or when it is polled; then it is silent.
class ScriptedStore : public Store {
 public:
  explicit ScriptedStore(Journal& j) : journal(j) {}
  void send(const Request& request, TimePoint now) override {
    journal.push_back("ask " + name_of(request));
    asked_at = now;
    const std::string verb = name_of(request);
    if (!script[verb].empty()) {
      pending = script[verb].front();
      script[verb].pop_front();
    }
    if (on_ask) on_ask(verb);
  }
  void watch(PollSet& set) const override {
    set.add(bell.get(), POLLIN);
    if (deadline) set.wake_by(*deadline);
  }
  std::optional<Reply> step(const PollSet& set, TimePoint now) override {
    const bool rung = (set.ready(bell.get()) & POLLIN) != 0;
    const bool late = deadline && now >= *deadline;
    if (!pending || !(at_once || rung || late)) return std::nullopt;
    deadline.reset();
    Reply reply = *std::exchange(pending, std::nullopt);
    if (auto* granted = std::get_if<Granted>(&reply)) granted->sent_at = asked_at;
    if (auto* kept = std::get_if<Renewed>(&reply)) kept->sent_at = asked_at;
    journal.push_back("reply");
    return reply;
  }
  int inherited_fd() const override { return 77; }

  Journal& journal;
  std::map<std::string, std::deque<Reply>> script;
  std::function<void(const std::string& verb)> on_ask;
  bool at_once = true;
  std::optional<TimePoint> deadline;
  std::optional<Reply> pending;
  TimePoint asked_at{};
  Fd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class FakeSupervisor : public Supervisor {
 public:
  explicit FakeSupervisor(Journal& j) : journal(j) {}
  void start(const Command& command, int inherited_fd) override {
    journal.push_back("start " + command.path + " " + std::to_string(inherited_fd));
    started = command;
    facts.push_back(ChildStarted{});
    if (on_start) on_start();
  }
  void signal(int signo, Target target) override {
    journal.push_back("signal " + std::to_string(signo) +
                      (target == Target::group ? " group" : " tree"));
    if (on_signal) on_signal(signo);
  }
  void watch(PollSet& set) const override { set.add(bell.get(), POLLIN); }
  std::optional<ProcEvent> next() override {
    if (facts.empty()) return std::nullopt;
    ProcEvent fact = facts.front();
    facts.pop_front();
    return fact;
  }
  void ring() { (void)!::eventfd_write(bell.get(), 1); }

  Journal& journal;
  std::deque<ProcEvent> facts;
  std::function<void()> on_start;
  std::function<void(int)> on_signal;
  Command started;
  Fd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class Driving : public ::testing::Test {
 protected:
  Outcome drive_it(RunSpec spec = testing::spec_with(Millis(30'000))) {
    cronlatch::Run run(std::move(spec));
    return drive(run, store, supervisor, clock, log, programs);
  }

  Journal journal;
  ScriptedStore store{journal};
  FakeSupervisor supervisor{journal};
  KernelClock clock;
  std::vector<std::string> lines;
  Log log{LogFormat::text, Level::debug, clock,
          [this](std::string_view line) { lines.emplace_back(line); }};
  Programs programs{
      Command{"/bin/job", {"job"}, {"A=1"}}, Error{Code::usage, "none"},
      [](Fence fence) { return std::vector<std::string>{"FENCE=" + std::to_string(fence)}; }};
};

TEST_F(Driving, AGrantedRunStartsTheCommandWaitsForItReleasesAndReturns) {
  // Given
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {Released{}};
  supervisor.on_start = [this] { supervisor.facts.push_back(ChildExited{5, true}); };
  // When
  const Outcome outcome = drive_it();
  // Then
  EXPECT_EQ(outcome.kind, Kind::ran);
  EXPECT_EQ(outcome.child_code, 5);
  EXPECT_THAT(journal,
              ElementsAre("ask acquire", "reply", "start /bin/job 77", "ask release", "reply"));
}

TEST_F(Driving, TheCommandsEnvironmentIsItsOwnWithTheAdditionsForTheFence) {
  // Given
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {Released{}};
  supervisor.on_start = [this] { supervisor.facts.push_back(ChildExited{0, true}); };
  // When
  (void)drive_it();
  // Then
  EXPECT_THAT(supervisor.started.env, ElementsAre("A=1", "FENCE=7"));
}

TEST_F(Driving, ASignalThatIsThereBeforeTheGrantKeepsTheCommandFromBeingStarted) {
  // Given
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {Released{}};
  store.on_ask = [this](const std::string& verb) {
    if (verb == "acquire") supervisor.facts.push_back(SignalArrived{SIGTERM});
  };
  // When
  const Outcome outcome = drive_it();
  // Then
  EXPECT_EQ(outcome.kind, Kind::interrupted);
  EXPECT_EQ(outcome.signo, SIGTERM);
  EXPECT_THAT(journal, ElementsAre("ask acquire", "reply", "ask release", "reply"));
}

TEST_F(Driving, ACommandThatWasNotFoundIsReportedAndTheLockReleased) {
  // Given
  programs.command = Error{Code::exec_missing, "not found"};
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {Released{}};
  // When
  const Outcome outcome = drive_it();
  // Then
  EXPECT_EQ(outcome.kind, Kind::cannot_start);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, Code::exec_missing);
  EXPECT_THAT(journal, ElementsAre("ask acquire", "reply", "ask release", "reply"));
}

TEST_F(Driving, ASkippedRunStartsTheSkipCommandWithoutTheLocksVariables) {
  // Given
  programs.skip_command = Command{"/bin/skip", {"skip"}, {"A=1"}};
  store.script["acquire"] = {Busy{.holder = "other"}};
  supervisor.on_start = [this] { supervisor.facts.push_back(ChildExited{3, true}); };
  RunSpec spec = testing::spec_with(Millis(30'000));
  spec.has_skip_command = true;
  // When
  const Outcome outcome = drive_it(spec);
  // Then
  EXPECT_EQ(outcome.kind, Kind::skipped);
  EXPECT_THAT(journal, Contains(::testing::StartsWith("start /bin/skip")));
  EXPECT_THAT(supervisor.started.env, ElementsAre("A=1"));
}

TEST_F(Driving, AReplyIsTakenWhenTheStoresDescriptorBecomesReady) {
  // Given
  store.at_once = false;
  store.script["acquire"] = {Busy{.holder = "other"}};
  (void)!::eventfd_write(store.bell.get(), 1);
  // When
  const Outcome outcome = drive_it();
  // Then
  EXPECT_EQ(outcome.kind, Kind::skipped);
}

TEST_F(Driving, TheStoreIsSteppedWhenItsDeadlineHasCome) {
  // Given
  store.at_once = false;
  store.script["acquire"] = {Busy{.holder = "other"}};
  store.deadline = clock.now() + Millis(30);
  const TimePoint due = *store.deadline;
  // When
  const Outcome outcome = drive_it();
  // Then
  EXPECT_EQ(outcome.kind, Kind::skipped);
  EXPECT_GE(clock.now(), due);
}

TEST_F(Driving, RunGetsATickAtItsWakeTimeWithoutAnyDescriptor) {
  // Given
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {Released{}};
  RunSpec spec = testing::spec_with(Millis(30'000));
  spec.max_run = Millis(40);
  supervisor.on_signal = [this](int signo) {
    if (signo == SIGTERM) supervisor.facts.push_back(ChildExited{143, true});
  };
  const TimePoint before = clock.now();
  // When
  const Outcome outcome = drive_it(spec);
  // Then
  EXPECT_EQ(outcome.kind, Kind::timed_out);
  EXPECT_GE(clock.now() - before, Millis(40));
}

// A clock that a test moves: what a stopped or suspended wrapper sees when it wakes up.
class JumpingClock : public Clock {
 public:
  TimePoint now() const override { return real.now() + jump; }
  WallTime wall() const override { return real.wall(); }
  KernelClock real;
  Micros jump{};
};

TEST_F(Driving, AfterALongStopTheLeaseIsCheckedBeforeTheCommandContinues) {
  // Given a lease of 30 s, and a wrapper that was stopped for a minute and is continued
  JumpingClock jumping;
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {NotHolder{}};
  supervisor.on_start = [&] {
    jumping.jump = Seconds(60);
    supervisor.facts = {ChildStarted{}, SignalArrived{SIGCONT}};
  };
  supervisor.on_signal = [this](int signo) {
    if (signo == SIGCONT) supervisor.facts.push_back(ChildExited{137, true});
  };
  cronlatch::Run run(testing::spec_with(Millis(30'000)));
  // When
  const Outcome outcome = drive(run, store, supervisor, jumping, log, programs);
  // Then
  EXPECT_EQ(outcome.kind, Kind::lost);
  const auto first = [this](const std::string& what) {
    return std::find(journal.begin(), journal.end(), what);
  };
  ASSERT_NE(first("signal 9 tree"), journal.end());
  EXPECT_LT(first("signal 9 tree"), first("signal 18 group"));
}

TEST_F(Driving, LinesAreLoggedInOrder) {
  // Given
  store.script["acquire"] = {Granted{.fence = 7}};
  store.script["release"] = {Released{}};
  supervisor.on_start = [this] { supervisor.facts.push_back(ChildExited{0, true}); };
  // When
  (void)drive_it();
  // Then
  EXPECT_THAT(lines, Contains(::testing::HasSubstr("acquired")));
}

}  // namespace
}  // namespace cronlatch
