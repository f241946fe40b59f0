// SPDX-License-Identifier: Apache-2.0
// What the tests of the guardian share: a command with a descendant outside its session, and the
// processes of a run.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "launch_context.h"
#include "proc/descendants.h"

namespace cronlatch::testing {

// The children of a process, zombies included.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const Process& p : descendants_of(parent, {}).value_or(std::vector<Process>{}))
    if (p.parent == parent) children.push_back(p.pid);
  return children;
}

inline std::string proc_file(pid_t pid, const std::string& name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + name);
}

inline bool is_guardian(pid_t pid) { return proc_file(pid, "comm") == "cronlatch-guard\n"; }

class GuardianTest : public InLaunchContext {
 protected:
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
};

}  // namespace cronlatch::testing
