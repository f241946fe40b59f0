// SPDX-License-Identifier: Apache-2.0
#include "base/retry_after.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace cronlatch {

constexpr std::int64_t kMaxPauseSeconds = std::int64_t{6} * 3600;

Millis retry_after(const std::string& header, WallTime now) {
  std::int64_t seconds = 0;
  const char* const end = header.data() + header.size();
  const auto [rest, error] = std::from_chars(header.data(), end, seconds);
  const std::int64_t now_seconds = now.us / 1'000'000;
  if (error == std::errc() && rest == end) {
    constexpr std::int64_t kUnixTime = 1'000'000'000;  // as a duration: 31 years
    if (seconds >= kUnixTime) seconds -= now_seconds;
  } else {
    std::tm date{};
    const char* const parsed = ::strptime(header.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (parsed == nullptr || *parsed != '\0') return Millis(0);
    seconds = static_cast<std::int64_t>(::timegm(&date)) - now_seconds;
  }
  return Seconds(std::clamp<std::int64_t>(seconds, 0, kMaxPauseSeconds));
}

}  // namespace cronlatch
