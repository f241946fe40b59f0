// SPDX-License-Identifier: Apache-2.0
// A lock's record as text: one fact per line, for people to read and for us to read back exactly.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/rules.h"

namespace cronlatch::file {

// What a file keeps about one lock: the rules' record, and where its last holder lived, for people
// who look.
struct Stored {
  rules::Record record;
  long pid = 0;
  std::uint64_t pid_namespace = 0;
  bool operator==(const Stored&) const = default;
};

std::string encode(const std::string& lock, const Stored& stored);

// The message of an Error says what is wrong with the text ("line 7: ..."); nothing is guessed or
// skipped. No text at all is an empty record: what a power cut leaves of a file that was not
// synced.
Result<Stored> decode(const std::string& lock, std::string_view text);

}  // namespace cronlatch::file
