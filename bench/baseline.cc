// SPDX-License-Identifier: Apache-2.0
// The baseline: starts a command, waits for it and returns its exit code. Statically linked like
// the product, so that the difference is the work of the gate.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  pid_t child = 0;
  if (posix_spawnp(&child, argv[1], nullptr, nullptr, argv + 1, environ) != 0) return 127;
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 70;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
