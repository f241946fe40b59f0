// SPDX-License-Identifier: Apache-2.0
// A static command for a root without a shell: prints its environment and exits with the code in
// argv[1].
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  for (char** variable = environ; *variable != nullptr; ++variable) std::printf("%s\n", *variable);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
