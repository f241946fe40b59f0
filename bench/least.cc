// SPDX-License-Identifier: Apache-2.0
// The minimum of a gate over plaintext Redis: the baseline, and the four commands of the contract
// with the product's scripts, so that the lock statistics are the same. It reads no options,
// handles no signal, sets no deadline, renews no lease and does not validate replies. Its cost
// above the baseline is that of the network and the server; the product's cost above it is that of
// the product.
//   least PORT COMMAND...
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <spawn.h>
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

// Sends one command and reads one reply; true if the reply contains `expected`.
bool request(int fd, std::initializer_list<const char*> words, const char* expected) {
  static char text[kPage];
  int size = std::snprintf(text, sizeof text, "*%zu\r\n", words.size());
  for (const char* word : words)
    size += std::snprintf(text + size, sizeof text - static_cast<std::size_t>(size),
                          "$%zu\r\n%s\r\n", std::strlen(word), word);
  if (write(fd, text, static_cast<std::size_t>(size)) != size) return false;
  const ssize_t got = read(fd, text, sizeof text - 1);
  text[got > 0 ? got : 0] = '\0';
  return std::strstr(text, expected) != nullptr;
}

// Evaluates a script with the eight keys of the lock "least" and `values` as arguments.
template <class... Values>
bool evaluate(int fd, const cronlatch::scripts::Script& script, const char* expected,
              Values... values) {
  return request(
      fd,
      {"EVALSHA", script.hash.data(), "8", "cronlatch:{least}", "cronlatch:{least}:stats",
       "cronlatch:{least}:groups", "cronlatch:{least}:once", "cronlatch:{least}:seen",
       "cronlatch:{least}:queue", "cronlatch:{least}:asked", "cronlatch:{least}:slots", values...},
      expected);
}

int gate(int port, char** command) {
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
  namespace scripts = cronlatch::scripts;
  if (!evaluate(fd, scripts::acquire, "granted", until, owner, "1", "120000000", "least", "", "",
                "", "3024000000000", "skip", "0", "0", "0", "0", "1"))
    return 69;
  const int code = run(command);
  const bool freed = evaluate(fd, scripts::release, "freed", until, owner, "1", "0", "succeeded",
                              "0", "1", "0", "0", "3024000000000", "", "", "0", "");
  return freed ? code : 69;
}

}  // namespace

int main(int argc, char** argv) { return argc < 3 ? 64 : gate(std::atoi(argv[1]), argv + 2); }
