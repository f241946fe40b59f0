// SPDX-License-Identifier: Apache-2.0
// vfork, and its like by clone3. A process that joins a cgroup by writing its pid would wait for
// every fork on the host to pause (cgroup_threadgroup_rwsem), clone3 does not.
#include "proc/spawn.h"

#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cronlatch {
namespace {

// Inlined, for the reason that vfork(2) is no ordinary function: the child continues on the stack
// of the caller, and would overwrite the return address of a function that it returned from.
[[gnu::always_inline]] inline long raw_clone3(clone_args& args) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(&args), "S"(sizeof args)
               : "rcx", "r11", "memory", "cc");
  return result;
#elif defined(__aarch64__)
  register long number asm("x8") = SYS_clone3;
  register long argument_then_result asm("x0") = reinterpret_cast<long>(&args);
  register unsigned long size asm("x1") = sizeof args;
  asm volatile("svc 0" : "+r"(argument_then_result) : "r"(number), "r"(size) : "memory", "cc");
  return argument_then_result;
#else
  (void)args;
  return -ENOSYS;
#endif
}

}  // namespace

[[gnu::noinline]] pid_t spawn(const ChildPlan& plan) {
  const pid_t pid = ::vfork();
  if (pid == 0) exec_command(plan);
  return pid;
}

// Nothing but the call and the child's path: no local of this frame is used after the child has
// run.
[[gnu::noinline]] pid_t spawn_in_cgroup(const ChildPlan& plan, int cgroup) {
  clone_args args{};
  args.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<unsigned>(cgroup);
  const long pid = raw_clone3(args);
  if (pid == 0) exec_command(plan);
  if (pid > 0) return static_cast<pid_t>(pid);
  errno = static_cast<int>(-pid);
  return -1;
}

}  // namespace cronlatch
