// SPDX-License-Identifier: Apache-2.0
// With a guardian: it starts, signals and reaps; this process keeps the terminal and reports. When
// the guardian ends before the tree, this process is the reaper, and continues as without one.
#include <cerrno>
#include <csignal>
#include <utility>

#include "proc/posix_supervisor.h"
#include "proc/start_error.h"

namespace cronlatch {

void PosixSupervisor::create_guardian() {
  if (!kill_timer_ || guardian_) return;
  guardian_ = GuardianProcess::start(kill_timer_->fd(), tree_.cgroup() ? tree_.cgroup()->fd() : -1);
}

void PosixSupervisor::start_with_guardian(const Command& command, Placement placement) {
  create_guardian();
  if (!guardian_ || !guardian_->launch(command, signals_.original(), placement)) {
    events_.push_back(CannotStart{start_error("guardian", errno)});
    return;
  }
  is_foreground_ = placement == Placement::foreground_group;
  started_ = true;
}

void PosixSupervisor::kill_by(std::optional<TimePoint> when) {
  if (kill_timer_) kill_timer_->set(when);
}

void PosixSupervisor::take_reports() {
  if (!guardian_ || !started_) return;
  while (const std::optional<GuardianReport> report = guardian_->next()) take(*report);
  if (const int signo = std::exchange(stopped_by_, 0); signo != 0) command_stopped(signo);
}

void PosixSupervisor::take(const GuardianReport& report) {
  using Kind = GuardianReport::Kind;
  if (report.command != 0) {
    tree_.begin(report.command);
    if (is_foreground_) terminal_.set_foreground_group(report.command);
  }
  switch (report.kind) {
    case Kind::no_guardian:
      start_reported_ = true;
      return cannot_start(start_error("guardian: execve", report.value));
    case Kind::no_fork:
      start_reported_ = true;
      return cannot_start(start_error("fork", report.value));
    case Kind::not_started:
      start_reported_ = true;
      return cannot_start(exec_error(path_, report.value));
    case Kind::started:
      start_reported_ = true;
      events_.push_back(ChildStarted{});
      return;
    case Kind::stopped:
      stopped_by_ = report.value;
      return;
    case Kind::exited:
      stopped_by_ = 0;
      exit_code_ = report.value;
      tree_.leader_reaped();
      return;
    case Kind::reaped:
      command_exited(*std::exchange(exit_code_, std::nullopt), report.value == 1);
      return;
    case Kind::tree_empty:
      awaiting_tree_ = false;
      events_.push_back(TreeEmpty{});
      return;
    case Kind::killed:
      return;
  }
}

void PosixSupervisor::guardian_changed(bool has_ended) {
  // A stopped guardian guards nothing.
  if (!has_ended) return guardian_->kill();
  take_reports();
  guardian_.reset();
  if (!started_) return;  // start() creates another one
  const bool has_finished =
      start_reported_ && tree_.leader() == 0 && !exit_code_ && !awaiting_tree_;
  guardian_lost_ = !has_finished;
}

// The kernel has made this process the parent of the guardian's children.
void PosixSupervisor::guardian_lost(Reaped& reaped) {
  guardian_lost_ = false;
  const bool is_empty = reaped.no_children || tree_.is_empty();
  if (!start_reported_) {
    if (is_empty)
      return cannot_start({Code::system, "the command cannot be started: its guardian ended", {}});
    // The command may run; its pid is not known.
    reaped.exit_code = 128 + SIGKILL;
  }
  const bool has_exited = exit_code_.has_value();
  if (has_exited) reaped.exit_code = std::exchange(exit_code_, std::nullopt);
  if (!(has_exited && is_empty)) events_.push_back(GuardianEnded{});
}

}  // namespace cronlatch
