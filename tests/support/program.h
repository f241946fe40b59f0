// SPDX-License-Identifier: Apache-2.0
// Program: a real process under test, with pipes or a terminal; reads and waits have time limits.
// The talking child (talking_child/main.cc) is the command in most tests.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/eventually.h"

namespace cronlatch::testing {

using namespace std::chrono_literals;

std::string talking_child();  // path of the program

// A separate directory for each test, deleted with its content.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  std::string path(const std::string& name = "") const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);  // "" when it cannot be read
bool exists(const std::string& path);
bool is_alive(pid_t pid);  // exists and is not a zombie
std::int64_t boottime_us();

enum class Stdio { pipes, all_closed, terminal };

struct ProgramSpec {
  std::vector<std::string> argv;                          // argv[0] is the path
  std::vector<std::string> env = {"PATH=/usr/bin:/bin"};  // the whole environment
  Stdio stdio = Stdio::pipes;                             // terminal: a new session with a new pty
  std::vector<int> ignored{};                             // signals that are ignored at its start
  std::vector<int> blocked{};
  std::vector<int> closed{};     // descriptors of 0, 1, 2 that are closed at its start
  std::vector<int> inherited{};  // further descriptors that it inherits, with the same numbers
  std::string name{};            // argv[0] when it differs from the path
};

class Program {
 public:
  explicit Program(const ProgramSpec& spec);
  ~Program();  // kills it and its session, in any state
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int signo) const;
  void type(const std::string& text) const;  // to its standard input or its terminal
  void close_input();
  void stop_listening();  // closes the read ends of its standard output and standard error

  const std::string& out() const { return out_; }  // what has been read so far
  const std::string& err() const { return err_; }
  // Reads until standard output (or the terminal) contains `text`.
  bool says(const std::string& text, std::chrono::milliseconds limit = kPatience);
  bool complains(const std::string& text,
                 std::chrono::milliseconds limit = kPatience);  // standard error
  // Reads until `condition` holds.
  bool until(const std::function<bool()>& condition, std::chrono::milliseconds limit = kPatience);
  // The value after the last `key` in its output: word_after("pid=") of "pid=12 x" is "12".
  std::string word_after(const std::string& key) const;
  // The same as a process id; waits for it. Aborts the tests instead of returning 0 or -1, with
  // which kill() would signal several processes.
  pid_t pid_after(const std::string& key);
  // Its exit code, 128+n for a signal; reads to the end of its output. nullopt when it still runs.
  std::optional<int> exit_code(std::chrono::milliseconds limit = kPatience);
  bool stopped(std::chrono::milliseconds limit = kPatience) const;  // by a signal (state T)

 private:
  void pump(std::chrono::milliseconds wait);

  pid_t pid_ = 0;
  int in_ = -1, out_fd_ = -1, err_fd_ = -1;
  std::string out_, err_;
  std::optional<int> code_;
};

// Runs it and returns its standard output; when it fails, prints its standard error and aborts the
// tests.
std::string output_of(const ProgramSpec& spec);

}  // namespace cronlatch::testing
