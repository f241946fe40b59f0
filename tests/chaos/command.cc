// SPDX-License-Identifier: Apache-2.0
// The gated command of the chaos runs, and the monitor of the host. It contains no code of
// cronlatch.
//
// command run LIFE ID SECONDS EXIT_CODE TERM(obey|ignore) DESCENDANTS LINGER: appends one line to
// the
//   file LIFE at the start, every 20 ms, and at the end: `<CLOCK_BOOTTIME in ns> <kind> <ID> <pid>
//   <fence>`. A line is one write with O_APPEND. Each descendant leaves the session, closes every
//   descriptor, and writes for LINGER seconds longer than the command.
// command watch FILE PROCESSOR: runs until it is killed, on one processor. A line `<from> <until>
//   <cpu|disk>` is a time in which it was not scheduled, or waited for a synced write.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;
constexpr std::int64_t kBeat = 20 * kMillisecond;
constexpr std::int64_t kReported = 50 * kMillisecond;

std::int64_t boottime() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

void sleep_for(std::int64_t length) {
  const timespec wait{length / kSecond, length % kSecond};
  nanosleep(&wait, nullptr);
}

struct Run {
  const char* life;
  const char* id;
  std::int64_t length;
  std::int64_t linger;
  const char* fence;
  int fd = -1;

  void open() { fd = ::open(life, O_WRONLY | O_APPEND | O_CLOEXEC); }
  void write(const char* kind) const {
    char line[200];
    const int size =
        std::snprintf(line, sizeof line, "%lld %s %s %d %s\n", static_cast<long long>(boottime()),
                      kind, id, static_cast<int>(getpid()), fence);
    if (::write(fd, line, static_cast<std::size_t>(size)) != size) _exit(90);
  }
  void beat_until(std::int64_t end) const {
    while (boottime() < end) {
      sleep_for(kBeat);
      write("beat");
    }
  }
};

int run(char** args) {
  const char* fence = std::getenv("CRONLATCH_FENCE");
  Run self{args[0], args[1], static_cast<std::int64_t>(std::atof(args[2]) * kSecond),
           static_cast<std::int64_t>(std::atof(args[6]) * kSecond), fence ? fence : "none"};
  const std::int64_t began = boottime();
  self.open();
  self.write("start");
  // A password of the store does not belong into the command's environment.
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strstr(*each, "canary-") != nullptr) self.write("secret");
  }
  if (std::strcmp(args[4], "ignore") == 0) {
    for (const int signo : {SIGTERM, SIGINT, SIGHUP}) signal(signo, SIG_IGN);
  }
  for (int i = std::atoi(args[5]); i > 0; --i) {
    if (fork() != 0) continue;
    setsid();
    close_range(0, ~0U, 0);
    self.open();
    self.beat_until(began + self.length + self.linger);
    _exit(0);
  }
  self.beat_until(began + self.length);
  self.write("end");
  return std::atoi(args[3]);
}

void report(int fd, std::int64_t from, const char* what) {
  const std::int64_t until = boottime();
  if (until - from < kReported) return;
  char line[100];
  const int size = std::snprintf(line, sizeof line, "%lld %lld %s\n", static_cast<long long>(from),
                                 static_cast<long long>(until), what);
  if (::write(fd, line, static_cast<std::size_t>(size)) != size) _exit(90);
}

int watch(char** args) {
  constexpr int kBeatsPerSync = 10;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(static_cast<std::size_t>(std::atoi(args[1])), &processors);
  sched_setaffinity(0, sizeof processors, &processors);
  const int fd = open(args[0], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  char scratch[400];
  std::snprintf(scratch, sizeof scratch, "%s.sync", args[0]);
  const int synced = open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (int beat = 0;; ++beat) {
    const std::int64_t due = boottime() + kBeat;
    sleep_for(kBeat);
    report(fd, due, "cpu");
    if (beat % kBeatsPerSync != 0) continue;
    const std::int64_t from = boottime();
    if (pwrite(synced, "x", 1, beat % 4096) != 1 || fdatasync(synced) != 0) _exit(91);
    report(fd, from, "disk");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 9 && std::strcmp(argv[1], "run") == 0) return run(argv + 2);
  if (argc == 4 && std::strcmp(argv[1], "watch") == 0) return watch(argv + 2);
  std::fprintf(stderr, "usage: command run LIFE ID SECONDS EXIT_CODE TERM DESCENDANTS LINGER\n");
  return 64;
}
