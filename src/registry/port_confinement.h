// SPDX-License-Identifier: Apache-2.0
// What the calling thread, and every child that it starts, may reach: a few ports of TCP. For good.
#pragma once

#include <cstdint>
#include <vector>

namespace cronlatch::registry {

// By Landlock. False where the kernel has no such rule (before 6.7) or forbids it: then nothing is
// changed.
bool confine_thread_to_ports(const std::vector<std::uint16_t>& ports);

}  // namespace cronlatch::registry
