// SPDX-License-Identifier: Apache-2.0
#include "base/shell_text.h"

#include <algorithm>

namespace cronlatch {
namespace {

// No blank, quote, expansion, operator, comment or tilde.
bool is_safe(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') ||
         std::string_view("_-./:=,@%+").find(c) != std::string_view::npos;
}

// At its beginning, `a=b` is an assignment and not a command.
bool is_assignment(std::string_view word) {
  return word.find('=') != std::string_view::npos && !word.starts_with('-');
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_safe) && !is_assignment(word))
    return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string shell_text(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace cronlatch
