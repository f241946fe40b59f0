// SPDX-License-Identifier: Apache-2.0
// The least that any gate must do, without doing it well: the floor, and around the command the
// four commands of the contract over plaintext Redis (our scripts, so the same ledger), or a locked
// file read and written twice. It reads no options, handles no signal, sets no deadline, renews
// nothing and believes every reply. What the product costs beyond this is its own; what this costs
// beyond the floor, nobody can save.
//   least redis PORT COMMAND...      least file PATH COMMAND...
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "store/redis/scripts.h"

namespace {

constexpr int kPage = 4096;

int run(char** command) {
  pid_t child = 0;
  if (posix_spawnp(&child, command[0], nullptr, nullptr, command, environ) != 0) return 127;
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 70;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<unsigned short>(port));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0 ? fd : -1;
}

// Sends one command and reads until `verdict` is there; false when something else came.
bool ask(int fd, std::initializer_list<const char*> words, const char* verdict) {
  static char text[kPage];
  int size = std::snprintf(text, sizeof text, "*%zu\r\n", words.size());
  for (const char* word : words)
    size += std::snprintf(text + size, sizeof text - static_cast<std::size_t>(size),
                          "$%zu\r\n%s\r\n", std::strlen(word), word);
  if (write(fd, text, static_cast<std::size_t>(size)) != size) return false;
  const ssize_t got = read(fd, text, sizeof text - 1);
  text[got > 0 ? got : 0] = '\0';
  return std::strstr(text, verdict) != nullptr;
}

int gate_by_redis(int port, char** command) {
  const int fd = connect_to(port);
  constexpr char kHello[] = "*2\r\n$5\r\nHELLO\r\n$1\r\n2\r\n*1\r\n$4\r\nTIME\r\n";
  char reply[kPage];
  if (fd < 0 || write(fd, kHello, sizeof kHello - 1) != sizeof kHello - 1 ||
      read(fd, reply, sizeof reply) <= 0)
    return 69;
  unsigned long long random[2];
  if (getrandom(random, sizeof random, 0) != sizeof random) return 70;
  char owner[33], until[24];
  std::snprintf(owner, sizeof owner, "%016llx%016llx", random[0], random[1]);
  std::snprintf(until, sizeof until, "%lld",
                (static_cast<long long>(time(nullptr)) + 60) * 1000000);
  const char* k = "cronlatch:{least}";
  if (!ask(fd,
           {"EVALSHA",
            cronlatch::scripts::acquire.hash.data(),
            "5",
            k,
            "cronlatch:{least}:stats",
            "cronlatch:{least}:groups",
            "cronlatch:{least}:once",
            "cronlatch:{least}:seen",
            until,
            owner,
            "1",
            "120000000",
            "least",
            "",
            "",
            "",
            "3024000000000",
            "skip",
            "0",
            "0"},
           "granted"))
    return 69;
  const int code = run(command);
  return ask(fd,
             {"EVALSHA",
              cronlatch::scripts::release.hash.data(),
              "5",
              k,
              "cronlatch:{least}:stats",
              "cronlatch:{least}:groups",
              "cronlatch:{least}:once",
              "cronlatch:{least}:seen",
              until,
              owner,
              "1",
              "0",
              "succeeded",
              "0",
              "1",
              "0",
              "0",
              "3024000000000",
              "",
              ""},
             "freed")
             ? code
             : 69;
}

// Reads the record's page, changes a byte and writes it back, in the lock.
bool turn(int fd) {
  static char page[kPage];
  const bool read_it = flock(fd, LOCK_EX) == 0 && pread(fd, page, kPage, 0) >= 0;
  ++page[0];
  return read_it && pwrite(fd, page, kPage, 0) == kPage;
}

int gate_by_file(const char* path, char** command) {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || !turn(fd)) return 69;
  const int code = run(command);
  return turn(fd) ? code : 69;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  return std::strcmp(argv[1], "redis") == 0 ? gate_by_redis(std::atoi(argv[2]), argv + 3)
                                            : gate_by_file(argv[2], argv + 3);
}
