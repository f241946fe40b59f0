// SPDX-License-Identifier: Apache-2.0
// All signals are blocked, so that only SIGKILL and SIGSTOP have an effect on this process; the
// wrapper detects both. It has a process group of its own: a signal to the wrapper's job does not
// reach it.
#include "proc/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "base/kernel_clock.h"
#include "proc/child_reaper.h"
#include "proc/command_file.h"
#include "proc/guardian_channel.h"
#include "proc/process_tree.h"
#include "proc/spawn.h"
#include "proc/startup.h"

namespace cronlatch {
namespace {

constexpr char kName[] = "cronlatch-guardian";
constexpr char kShortName[] = "cronlatch-guard";  // at most 15 bytes, prctl(2)
constexpr int kArguments = 2;                     // name, channel
constexpr int kKillEveryMs = 100;                 // as Run does

using Kind = GuardianReport::Kind;

int exit_code_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

// Inherited descriptors, which the command must not inherit.
Fd take_over(int fd) {
  if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Fd(fd);
}

class Guardian {
 public:
  Guardian(GuardianChannel channel, const GuardianPlan& plan, SignalReader signals)
      : channel_(std::move(channel)),
        plan_(plan),
        signals_(std::move(signals)),
        kill_timer_(take_over(plan.kill_timer)) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (plan.cgroup >= 0) tree_.cgroup().emplace(take_over(plan.cgroup));
  }

  // Until no descendant is left.
  void run(const Command& command) {
    if (!start(command)) return;
    while (!done_) {
      wait();
      while (signals_.next()) {
      }
      reap();
      if (!done_) follow_orders();
      check_kill_time();
      if (is_killing_ && !done_ && boot_now() >= kill_at_) kill_tree();
    }
  }

 private:
  // spawn() returns after the exec, so its result is known.
  bool start(const Command& command) {
    const ExecImage image(command);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return fail(Kind::no_fork, errno);
    const Fd reading(ends[0]), writing(ends[1]);
    const bool has_terminal = plan_.placement != Placement::new_session;
    const Fd terminal(has_terminal ? ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) : -1);
    const ChildPlan plan{image, plan_.signals, plan_.placement, terminal.get(),
                         -1,    writing.get(), ::getpid()};
    pid_t pid = tree_.cgroup() ? spawn_in_cgroup(plan, tree_.cgroup()->fd()) : -1;
    if (pid < 0) {
      tree_.cgroup().reset();
      pid = spawn(plan);
    }
    if (pid < 0) return fail(Kind::no_fork, errno);
    tree_.begin(pid);
    int why = 0;
    const bool failed = ::read(reading.get(), &why, sizeof why) == sizeof why;
    channel_.send(GuardianReport{failed ? Kind::not_started : Kind::started, why, pid});
    return !failed;
  }

  void wait() const {
    const auto live = [](bool watched, int fd) { return watched ? fd : -1; };
    std::array<pollfd, 3> fds = {{
        {signals_.fd(), POLLIN, 0},
        {live(!channel_.has_ended(), channel_.fd()), POLLIN, 0},
        {live(!is_killing_, kill_timer_.get()), POLLIN, 0},
    }};
    ::poll(fds.data(), fds.size(), timeout_ms());
  }

  // Not later than the next pass of the reaper.
  int timeout_ms() const {
    const int longest = is_killing_ ? kKillEveryMs : -1;
    if (!reaper_.next()) return longest;
    const auto left = std::chrono::ceil<Millis>(*reaper_.next() - boot_now()).count();
    const int until_next = static_cast<int>(std::max<std::int64_t>(left, 0));
    return is_killing_ ? std::min(longest, until_next) : until_next;
  }

  // Reaps exactly what it has reported: a command that is stopped, continued and killed at once has
  // another change by the time of the second call.
  void reap() {
    const pid_t command = tree_.leader();
    const bool is_command_reaped = command != 0 && reap_command(static_cast<id_t>(command));
    done_ = !reaper_.reap({tree_.leader()});
    if (is_command_reaped)
      report(Kind::reaped, done_ ? 1 : 0);
    else if (done_)
      report(Kind::tree_empty, 0);
  }

  bool reap_command(id_t command) {
    siginfo_t info{};
    if (::waitid(P_PID, command, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid != 0)
      report(Kind::stopped, info.si_status);
    info = {};
    if (::waitid(P_PID, command, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      return false;
    // First: if this process is killed in between, the wrapper still has the exit code.
    report(Kind::exited, exit_code_of(info));
    ::waitpid(info.si_pid, nullptr, 0);
    tree_.leader_reaped();
    return true;
  }

  void follow_orders() {
    bool is_kill_ordered = false;
    while (const std::optional<GuardianOrder> order = channel_.receive<GuardianOrder>()) {
      if (order->target == Target::tree && order->signo == SIGKILL)
        is_kill_ordered = true;  // once for all rounds that were ordered meanwhile
      else if (order->target == Target::tree)
        tree_.signal_tree(order->signo);
      else
        tree_.signal_group(order->signo);
    }
    if (is_kill_ordered) {
      kill_tree();
      report(Kind::killed, 0);
    }
    if (channel_.has_ended()) is_killing_ = true;
  }

  void check_kill_time() {
    std::uint64_t expirations = 0;
    if (is_killing_ || ::read(kill_timer_.get(), &expirations, sizeof expirations) <= 0) return;
    is_killing_ = true;
  }

  void kill_tree() {
    kill_at_ = boot_now() + Millis(kKillEveryMs);
    if (tree_.kill_in_one_step()) return;
    if (tree_.is_killed_again()) reap();
    if (!done_) tree_.kill_by_scan();
  }

  void report(Kind kind, int value) const { channel_.send(GuardianReport{kind, value, 0}); }
  bool fail(Kind kind, int why) const {
    report(kind, why);
    return false;
  }

  GuardianChannel channel_;
  GuardianPlan plan_;
  SignalReader signals_;
  Fd kill_timer_;
  ProcessTree tree_;
  ChildReaper reaper_;
  bool is_killing_ = false;
  TimePoint kill_at_{};  // the next round
  bool done_ = false;
};

// The wrapper sends the plan when it has the lock. Nothing: it ended before.
std::optional<GuardianPlan> wait_for_plan(GuardianChannel& channel) {
  for (;;) {
    pollfd fd{channel.fd(), POLLIN, 0};
    ::poll(&fd, 1, -1);
    if (const auto plan = channel.receive<GuardianPlan>()) return plan;
    if (channel.has_ended()) return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> guardian_argv(int channel) { return {kName, std::to_string(channel)}; }

bool is_guardian(int argc, char** argv) {
  return argc == kArguments && std::string_view(argv[0]) == kName;
}

// _exit: the libraries have nothing to clean up, and an outer run waits for the end of this
// process.
void run_guardian(char** argv) {
  constexpr int kNothingToGuard = 64;
  const std::string_view number = argv[1];
  int fd = -1;
  std::from_chars(number.data(), number.data() + number.size(), fd);
  GuardianChannel channel(take_over(fd));
  ::prctl(PR_SET_NAME, kShortName);
  harden_process();
  Result<SignalReader> signals = SignalReader::open();
  const std::optional<GuardianPlan> plan = wait_for_plan(channel);
  if (!signals || !plan) ::_exit(kNothingToGuard);
  const std::optional<Command> command = read_command(plan->command);
  take_over(plan->command);
  if (!command) ::_exit(kNothingToGuard);
  Guardian(std::move(channel), *plan, std::move(*signals)).run(*command);
  ::_exit(0);
}

}  // namespace cronlatch
