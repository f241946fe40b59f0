// SPDX-License-Identifier: Apache-2.0
// A directory for one test, and a child process.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace cronlatch::testing {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "file-store-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) abort();
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

// A forked process; its exit code is what `work` returns. Killed and reaped at the latest with the
// object.
class Child {
 public:
  explicit Child(const std::function<int()>& work) : pid_(fork()) {
    if (pid_ == 0) _exit(work());
  }
  ~Child() {
    if (pid_ > 0) end(SIGKILL);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  void end(int signo) {
    kill(pid_, signo);
    join();
  }
  int join() {
    int status = 0;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// A gate between processes, made of a pipe: one process opens it, the other waits for it.
class Gate {
 public:
  Gate() {
    if (pipe(ends_) != 0) abort();
  }
  ~Gate() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() const { [[maybe_unused]] const ssize_t n = write(ends_[1], "x", 1); }
  void wait() const {
    char byte;
    [[maybe_unused]] const ssize_t n = read(ends_[0], &byte, 1);
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace cronlatch::testing
