// SPDX-License-Identifier: Apache-2.0
// Words as text that a POSIX shell reads back as the same words. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cronlatch {

// The word itself where every character is safe, else in single quotes.
std::string shell_word(std::string_view word);
// The words, separated by blanks.
std::string shell_text(std::span<const std::string> words);

}  // namespace cronlatch
