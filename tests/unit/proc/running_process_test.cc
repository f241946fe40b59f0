// SPDX-License-Identifier: Apache-2.0
#include "proc/running_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace cronlatch {
namespace {

// The name of a child that has ended and is reaped, or is a zombie.
class EndedChild {
 public:
  EndedChild() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string name = running_process();
      const bool written = ::write(ends[1], name.data(), name.size()) > 0;
      ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::array<char, 100> text{};
    const ssize_t n = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    name_.assign(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  ~EndedChild() { ::waitpid(pid_, nullptr, 0); }
  EndedChild(const EndedChild&) = delete;
  EndedChild& operator=(const EndedChild&) = delete;
  const std::string& name() const { return name_; }

 private:
  pid_t pid_ = 0;
  std::string name_;
};

TEST(RunningProcess, HasNotEnded) {
  EXPECT_NE(running_process(), "");
  EXPECT_FALSE(has_ended(running_process()));
}

TEST(RunningProcess, HasEndedAsAZombieAndAfterwards) {
  std::string name;
  {
    const EndedChild child;
    name = child.name();
    ASSERT_NE(name, running_process());
    EXPECT_TRUE(has_ended(name)) << name;
  }
  EXPECT_TRUE(has_ended(name)) << name;
}

TEST(RunningProcess, HasEndedWhenItsNumberBelongsToALaterProcess) {
  EXPECT_TRUE(has_ended(running_process() + "0"));
}

TEST(RunningProcess, IsNotKnownToHaveEnded) {
  const std::string own = running_process();
  for (const std::string& name :
       {std::string(), std::string("x"), "1" + own, own.substr(0, own.rfind('.')), own + ".1",
        own + "x", own.substr(0, own.find('.') + 1) + "-1.5"})
    EXPECT_FALSE(has_ended(name)) << name;
}

}  // namespace
}  // namespace cronlatch
