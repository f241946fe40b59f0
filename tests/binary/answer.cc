// SPDX-License-Identifier: Apache-2.0
// A static command for a root that has no shell: says what it was given, then ends with the exit
// code in argv[1].
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  for (char** variable = environ; *variable != nullptr; ++variable) std::printf("%s\n", *variable);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
