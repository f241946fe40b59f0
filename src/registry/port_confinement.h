// SPDX-License-Identifier: Apache-2.0
// Restricts the calling thread, and every child that it starts, to connections to a few TCP ports.
#pragma once

#include <cstdint>
#include <vector>

namespace cronlatch::registry {

// With Landlock; it cannot be undone. Returns false, and restricts nothing, where the kernel has no
// rules for ports (before Linux 6.7) or does not permit them.
bool confine_thread_to_ports(const std::vector<std::uint16_t>& ports);

}  // namespace cronlatch::registry
