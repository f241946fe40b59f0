// SPDX-License-Identifier: Apache-2.0
// A name for a process that another process can check: has it ended?
#pragma once

#include <string>
#include <string_view>

namespace cronlatch {

// The name of this process, digits and dots: its PID namespace, its pid and its start time. Empty
// when /proc is not mounted or shows another PID namespace.
std::string running_process();

// The process with that name has certainly ended. False when that is not known: an empty or damaged
// name, a process of another PID namespace, no /proc.
bool has_ended(std::string_view name);

}  // namespace cronlatch
