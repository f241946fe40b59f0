// SPDX-License-Identifier: Apache-2.0
// Supervisor: starts, signals and reaps the command and everything it starts. The POSIX one is
// proc/posix_supervisor.h, tests have a fake. It reports facts and executes actions; Run decides.
// One thread; no call blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/store.h"

namespace cronlatch {

struct Command {
  std::string path;               // of the executable, resolved
  std::vector<std::string> argv;  // argv[0] as the user wrote it
  std::vector<std::string> env;   // NAME=value
};

enum class Target {
  group,  // the command's own process group, which gets a terminal's signals
  tree,   // every living descendant, whatever group or session it moved to
};

struct ChildStarted {
  bool operator==(const ChildStarted&) const = default;
};
struct CannotStart {
  Error error;  // exec_missing (127) or exec_denied (126), or system
  bool operator==(const CannotStart&) const = default;
};
struct ChildExited {
  int code = 0;             // 0 to 255; 128+n when signal n ended it
  bool tree_empty = false;  // no descendant is left
  bool operator==(const ChildExited&) const = default;
};
struct TreeEmpty {  // after a ChildExited with tree_empty false: the last descendant has been
                    // reaped
  bool operator==(const TreeEmpty&) const = default;
};
struct SignalArrived {
  int signo = 0;
  bool operator==(const SignalArrived&) const = default;
};
// The guardian has ended before the tree, or was stopped. The tree is without its parent and must
// be killed.
struct GuardianEnded {
  bool operator==(const GuardianEnded&) const = default;
};
// The answer to count_tasks().
struct TasksCounted {
  std::size_t tasks = 0;
  bool operator==(const TasksCounted&) const = default;
};
using ProcEvent = std::variant<ChildStarted, CannotStart, ChildExited, TreeEmpty, SignalArrived,
                               TasksCounted, GuardianEnded>;

class Supervisor {
 public:
  virtual ~Supervisor() = default;
  // `inherited_fd`: a descriptor that the command inherits (Store::inherited_fd), or -1. The result
  // is the event ChildStarted or CannotStart.
  virtual void start(const Command& command, int inherited_fd) = 0;
  // Sends a signal; a target that is gone already is not an error.
  virtual void signal(int signo, Target target) = 0;
  // Called repeatedly, while the store works on a request: prepares start(), or cleans up after the
  // command.
  virtual void prepare() {}
  // Counts processes and threads; at least those of the tree. The answer is TasksCounted, or none
  // where the system does not report the number.
  virtual void count_tasks() {}
  // From this time on the tree must be killed even if this process is stopped; nothing: never.
  // Replaces the previous time. Only a supervisor with a guardian can do it.
  virtual void kill_by(std::optional<TimePoint> when) { (void)when; }
  virtual void watch(PollSet& set) const = 0;
  // The next event; call until there is none. Also reaps other children.
  virtual std::optional<ProcEvent> next() = 0;
};

}  // namespace cronlatch
