// SPDX-License-Identifier: Apache-2.0
// cronlatch-operator: hands over what the process was given. program.h is where it begins.
#include <malloc.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "operator/program.h"

int main(int argc, char** argv) {
  // A review may be 7 MB, most are 7 kB: large blocks go back to the system at once instead of
  // teaching malloc to keep them, and few threads need few arenas.
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  mallopt(M_ARENA_MAX, 2);
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  return cronlatch::op::run_operator(std::vector<std::string>(argv + 1, argv + argc), environment,
                                     {});
}
