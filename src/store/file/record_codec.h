// SPDX-License-Identifier: Apache-2.0
// A lock's record as text, one field per line. decode(encode(x)) is x. No I/O.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/rules.h"

namespace cronlatch::file {

// The last grant of one slot, and the process that it was for.
struct SlotGrant {
  rules::HoldState state = rules::HoldState::free;
  Claim claim;
  Identity identity;
  Fence fence = 0;
  Fence stole = 0;
  ServerTime acquired{};
  ServerTime expires{};
  Micros ttl{};
  Micros min_hold{};
  long pid = 0;
  std::uint64_t pid_namespace = 0;
  bool operator==(const SlotGrant&) const = default;
};

// The content of a record file: the record of the rules, and the process of the last holder, which
// readers are shown. With several slots, these are the grant of slot 1 and what all slots share.
struct Stored {
  rules::Record record;
  long pid = 0;
  std::uint64_t pid_namespace = 0;
  unsigned slots = 1;
  Fence last_fence = 0;                  // of all slots; with one slot that of the record
  std::map<unsigned, SlotGrant> others;  // slots 2 and higher; a missing one is free
  bool operator==(const Stored&) const = default;
};

std::string encode(const std::string& lock, const Stored& stored);

// The message of an Error names what is wrong with the text ("line 7 ..."). No line is guessed or
// skipped. An empty text is an empty record: a power failure can leave an empty file, because the
// record is not synced.
Result<Stored> decode(const std::string& lock, std::string_view text);

}  // namespace cronlatch::file
