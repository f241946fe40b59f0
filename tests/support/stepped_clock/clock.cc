// SPDX-License-Identifier: Apache-2.0
// Preloaded into a redis-server of a test: its wall clock is the machine's plus the number of
// microseconds in the file CLOCK_STEP_FILE (eight bytes, which the test changes). The monotonic
// clock is not changed. The functions only make system calls, because the server's allocator reads
// the time during the start.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

const volatile std::int64_t* step() {
  static const volatile std::int64_t none = 0;
  static const volatile std::int64_t* mapped = nullptr;
  if (mapped != nullptr) return mapped;
  const char* path = std::getenv("CLOCK_STEP_FILE");
  const int fd = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return &none;
  void* const page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (page == MAP_FAILED) return &none;
  mapped = static_cast<const volatile std::int64_t*>(page);
  return mapped;
}

std::int64_t wall_us() {
  timespec now{};
  ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1'000 + *step();
}

}  // namespace

extern "C" {

int gettimeofday(timeval* into, void*) noexcept {
  const std::int64_t us = wall_us();
  into->tv_sec = us / 1'000'000;
  into->tv_usec = us % 1'000'000;
  return 0;
}

int clock_gettime(clockid_t clock, timespec* into) noexcept {
  if (clock != CLOCK_REALTIME) return static_cast<int>(::syscall(SYS_clock_gettime, clock, into));
  const std::int64_t us = wall_us();
  into->tv_sec = us / 1'000'000;
  into->tv_nsec = us % 1'000'000 * 1'000;
  return 0;
}

time_t time(time_t* into) noexcept {
  const time_t now = wall_us() / 1'000'000;
  if (into != nullptr) *into = now;
  return now;
}

}  // extern "C"
