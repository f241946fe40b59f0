// SPDX-License-Identifier: Apache-2.0
// Checksums of a record: they detect a record that was read during a write, or of which a disk kept
// only a part.
#pragma once

#include <string>
#include <string_view>

namespace cronlatch::file {

// 16 hexadecimal digits. The step is FNV-1a's (Fowler, Noll, Vo) on eight bytes, lowest first; the
// last word is filled with zeros.
std::string checksum(std::string_view text);

// FNV-1a byte by byte: the checksum in records of version 0.1.0.
std::string checksum_of_0_1_0(std::string_view text);

}  // namespace cronlatch::file
