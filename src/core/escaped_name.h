// SPDX-License-Identifier: Apache-2.0
// Any text as characters of a lock name, one to one: a letter, a digit, '.', '-' and '/' is itself;
// '_' is itself unless two lower-case hexadecimal digits follow; any other byte is '_' and its two
// hexadecimal digits. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cronlatch {

std::string escape_name(std::string_view text);
// Also decodes text that escape_name does not return: a caller encodes the result again to check.
std::string unescape_name(std::string_view name);

}  // namespace cronlatch
