// SPDX-License-Identifier: Apache-2.0
// Subject: one thing that is compared, a program with its arguments and environment, and what one
// run of it costs. It knows nothing of what the program does.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Subject {
  std::string name;
  std::vector<std::string> gate;  // what stands in front of the command; empty: the bare command
  std::vector<std::string> env;   // NAME=value, all of the environment but PATH
};

// Milliseconds from the start of the program to its end; nothing when its exit code was not 0.
std::optional<double> run_once(const Subject& subject, const std::vector<std::string>& command);

// The most memory (VmHWM, KiB) the gate had used at a moment when its command was certainly
// running.
std::optional<long> resident_while_running(const Subject& subject);

// `values` is not empty; p in 0 to 1.
double quantile(std::vector<double> values, double p);

}  // namespace bench
