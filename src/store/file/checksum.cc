// SPDX-License-Identifier: Apache-2.0
#include "store/file/checksum.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace cronlatch::file {
namespace {

constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::string in_hex(std::uint64_t sum) {
  std::string out(16, '0');
  for (std::size_t i = out.size(); i-- > 0; sum >>= 4) out[i] = "0123456789abcdef"[sum & 15];
  return out;
}

}  // namespace

std::string checksum(std::string_view text) {
  std::uint64_t sum = kFnvStart + text.size();
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof sum))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    sum = (sum ^ word) * kFnvPrime;
    sum ^= sum >> 32;  // the high bits of a word count as much as its low bits
  }
  return in_hex(sum);
}

std::string checksum_of_0_1_0(std::string_view text) {
  std::uint64_t sum = kFnvStart;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return in_hex(sum);
}

}  // namespace cronlatch::file
