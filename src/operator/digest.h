// SPDX-License-Identifier: Apache-2.0
// The first 80 bits of a text's SHA-256, in hex: short enough for a name.
#pragma once

#include <string>
#include <string_view>

namespace cronlatch::op {

std::string digest(std::string_view text);

}  // namespace cronlatch::op
