// SPDX-License-Identifier: Apache-2.0
// RespFrames: just enough of RESP2 to split a stream of bytes into requests and replies. Shares no
// code with the product.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cronlatch::testing {

// Takes one whole request or reply off the front of `bytes`; nothing when its end is missing.
std::optional<std::string> take_frame(std::string& bytes);

// The words of a request: an array of bulk strings.
std::vector<std::string> words_of(const std::string& request);

}  // namespace cronlatch::testing
