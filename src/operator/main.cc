// SPDX-License-Identifier: Apache-2.0
// cronlatch-operator: calls run_operator (program.h) with the arguments and the environment.
#include <malloc.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "operator/program.h"

int main(int argc, char** argv) {
  // An admission review may have 7 MB; most have 7 kB. A fixed threshold returns large blocks to
  // the kernel at once; by default malloc raises the threshold. Few threads need few arenas.
  // Fast bins are merged whenever much memory is freed, which is after each page of a list.
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MXFAST, 0);
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  return cronlatch::op::run_operator(std::vector<std::string>(argv + 1, argv + argc), environment,
                                     {});
}
