// SPDX-License-Identifier: Apache-2.0
// SignalReader: no signal is lost, none interrupts, and those of the program's own writes are not
// reported.
#include "proc/signal_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <set>

#include "signals.h"

namespace cronlatch {
namespace {

class SignalReaders : public ::testing::Test {
 protected:
  std::multiset<int> everything(SignalReader& gate) {
    std::multiset<int> got;
    while (const auto signo = gate.next()) got.insert(*signo);
    return got;
  }
  testing::KeepsSignals keeps;
};

TEST_F(SignalReaders, CatchEverySignalThatCanBeCaught) {
  // Given
  auto gate = SignalReader::open();
  ASSERT_TRUE(gate.ok());
  std::multiset<int> sent;
  // When
  for (int signo = 1; signo <= 64; ++signo) {
    if (signo == SIGKILL || signo == SIGSTOP || signo == SIGPIPE || signo == SIGXFSZ) continue;
    // SIGCONT and the stop signals wipe each other out (signal(7)), so they cannot be pending
    // together.
    if (signo == SIGCONT) continue;
    ASSERT_EQ(::syscall(SYS_kill, ::getpid(), signo), 0) << signo;
    sent.insert(signo);
  }
  // Then
  EXPECT_EQ(everything(*gate), sent);
  EXPECT_TRUE(sent.contains(32) && sent.contains(33));
}

TEST_F(SignalReaders, CatchSigcont) {
  // Given
  auto gate = SignalReader::open();
  ASSERT_TRUE(gate.ok());
  // When
  ::kill(::getpid(), SIGCONT);
  // Then
  EXPECT_EQ(gate->next(), SIGCONT);
}

TEST_F(SignalReaders, DropTheSigpipeOfAnOwnWriteAndKeepThatOfAnotherProcess) {
  // Given
  auto gate = SignalReader::open();
  ASSERT_TRUE(gate.ok());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  // When
  const ssize_t written = ::write(ends[1], "x", 1);
  const auto after_write = gate->next();
  const pid_t other = ::fork();
  if (other == 0) {
    ::kill(::getppid(), SIGPIPE);
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  const std::multiset<int> after_kill = everything(*gate);
  ::close(ends[1]);
  // Then
  EXPECT_EQ(written, -1);
  EXPECT_EQ(after_write, std::nullopt);
  EXPECT_TRUE(after_kill.contains(SIGPIPE));
}

// A log line at the limit must not send a signal to the command.
TEST_F(SignalReaders, DropTheSigxfszOfAnOwnWriteAndKeepThatOfAnotherProcess) {
  // Given
  auto gate = SignalReader::open();
  ASSERT_TRUE(gate.ok());
  const int file = ::memfd_create("log", MFD_CLOEXEC);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  // When
  const ssize_t written = ::write(file, "x", 1);
  ::setrlimit(RLIMIT_FSIZE, &before);
  const auto after_write = gate->next();
  const pid_t other = ::fork();
  if (other == 0) {
    ::kill(::getppid(), SIGXFSZ);
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  const std::multiset<int> after_kill = everything(*gate);
  ::close(file);
  // Then
  EXPECT_EQ(written, -1);
  EXPECT_EQ(after_write, std::nullopt);
  EXPECT_TRUE(after_kill.contains(SIGXFSZ));
}

TEST_F(SignalReaders, ReportWhichSignalsWereIgnored) {
  // Given
  std::signal(SIGHUP, SIG_IGN);
  // When
  auto gate = SignalReader::open();
  std::signal(SIGHUP, SIG_DFL);
  // Then
  ASSERT_TRUE(gate.ok());
  EXPECT_TRUE(gate->was_ignored(SIGHUP));
  EXPECT_FALSE(gate->was_ignored(SIGTERM));
}

TEST_F(SignalReaders, AreEmptyWithoutBlocking) {
  // Given
  auto gate = SignalReader::open();
  ASSERT_TRUE(gate.ok());
  // When
  const auto none = gate->next();
  // Then
  EXPECT_EQ(none, std::nullopt);
}

}  // namespace
}  // namespace cronlatch
