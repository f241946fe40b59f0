// SPDX-License-Identifier: Apache-2.0
// Subject: a program with its arguments and environment, and functions that measure one run of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Subject {
  std::string name;
  std::vector<std::string> gate;  // the arguments before the command; empty: only the command
  std::vector<std::string> env;   // NAME=value, the whole environment except PATH
};

// Milliseconds from the start of the program to its exit; empty if its exit code was not 0.
std::optional<double> run_once(const Subject& subject, const std::vector<std::string>& command);

// Peak memory of the gate (VmHWM, KiB), read while its command is running.
std::optional<long> resident_while_running(const Subject& subject);

// Memory that only the gate's child uses (Private_Clean and Private_Dirty, KiB), read while the
// command is running.
std::optional<long> child_private_while_running(const Subject& subject);

// Milliseconds from SIGKILL of the gate while its command is running until the command has ended.
// Its lock stays held.
std::optional<double> command_ends_after_kill(const Subject& subject);

// `values` must not be empty; p is between 0 and 1.
double quantile(std::vector<double> values, double p);

}  // namespace bench
