// SPDX-License-Identifier: Apache-2.0
// RespFrames: the part of RESP2 that splits a stream of bytes into requests and replies. It shares
// no code with the product.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cronlatch::testing {

// Removes one complete request or reply from the front of `bytes`; nullopt when it is incomplete.
std::optional<std::string> take_frame(std::string& bytes);

// The words of a request: an array of bulk strings.
std::vector<std::string> words_of(const std::string& request);

}  // namespace cronlatch::testing
