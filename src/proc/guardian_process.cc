// SPDX-License-Identifier: Apache-2.0
// vfork and an exec of this program without an environment: the guardian has nothing of this
// process's memory.
#include "proc/guardian_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "proc/child.h"
#include "proc/command_file.h"
#include "proc/descendants.h"
#include "proc/guardian.h"

namespace cronlatch {
namespace {

constexpr char kThisProgram[] = "/proc/self/exe";

// Signals stay blocked; the plan contains the command's.
[[noreturn]] void exec_guardian(const ExecImage& image, const GuardianPlan& plan, int channel) {
  // A signal to the job of the wrapper (kill -STOP %1) does not reach it.
  ::setpgid(0, 0);
  for (const int fd : {channel, plan.kill_timer, plan.cgroup, plan.command})
    if (fd >= 0) ::fcntl(fd, F_SETFD, 0);
  const GuardianReport failed{GuardianReport::Kind::no_guardian, image.exec(), 0};
  GuardianChannel::send_packet(channel, &failed, sizeof failed);
  ::_exit(127);
}

// Only the call and the child's path, for the reason in spawn.cc.
[[gnu::noinline]] pid_t spawn_guardian(const ExecImage& image, const GuardianPlan& plan,
                                       int channel) {
  const pid_t pid = ::vfork();
  if (pid == 0) exec_guardian(image, plan, channel);
  return pid;
}

}  // namespace

std::optional<GuardianProcess> GuardianProcess::start(int kill_timer, int cgroup) {
  std::optional<GuardianChannelEnds> ends = open_guardian_channel();
  Fd command = create_command_file();
  if (!ends || !command) return std::nullopt;
  GuardianPlan plan;
  plan.kill_timer = kill_timer;
  plan.cgroup = cgroup;
  plan.command = command.get();
  const Command program{kThisProgram, guardian_argv(ends->guardian.fd()), {}};
  const pid_t pid = spawn_guardian(ExecImage(program), plan, ends->guardian.fd());
  if (pid < 0) return std::nullopt;
  return GuardianProcess(pid, std::move(ends->wrapper), std::move(command), plan);
}

bool GuardianProcess::launch(const Command& command, const OriginalSignals& signals,
                             Placement placement) {
  if (!write_command(command_.get(), command)) return false;
  plan_.signals = signals;
  plan_.placement = placement;
  channel_.send(plan_);
  return true;
}

void GuardianProcess::signal(int signo, Target target) {
  if (signo == SIGKILL && target == Target::tree) ++unanswered_;
  channel_.send(GuardianOrder{signo, target});
}

std::optional<GuardianReport> GuardianProcess::next() {
  const std::optional<GuardianReport> report = channel_.receive<GuardianReport>();
  if (report && report->kind == GuardianReport::Kind::killed) unanswered_ = 0;
  return report;
}

// With thousands of processes it can need many rounds for an answer, and is not held: another
// killer beside it would take the processors that these processes need to end.
bool GuardianProcess::is_held() const {
  constexpr int kRounds = 5, kManyRounds = 50;
  if (unanswered_ <= kRounds) return false;
  const std::optional<Process> guardian = read_process(pid_);
  return !guardian || guardian->stopped || unanswered_ > kManyRounds;
}

void GuardianProcess::kill() const { ::kill(pid_, SIGKILL); }

void GuardianProcess::end() const {
  kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace cronlatch
