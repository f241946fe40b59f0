// SPDX-License-Identifier: Apache-2.0
// What the nodes of a Redis Cluster answer: redirections and the ranges of hash slots. The text is
// untrusted. Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
// No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/store_url.h"
#include "store/redis/resp.h"

namespace cronlatch::redis {

inline constexpr std::size_t kHashSlots = 16'384;

// The hash slot of a key: CRC16 (XMODEM) of its hash tag, or of the whole key without one.
std::uint16_t hash_slot_of(std::string_view key);

struct Redirection {
  enum class Kind { moved, ask };
  Kind kind = Kind::moved;
  StoreHost to;  // an empty host: that of the server that answered
  bool operator==(const Redirection&) const = default;
};

// From "MOVED 3999 10.0.0.1:6381" or "ASK ...", without the leading '-'; no value for another text.
std::optional<Redirection> parse_redirection(std::string_view text);

struct HashSlotRange {
  std::uint16_t first = 0, last = 0;
  StoreHost master;  // an empty host: that of the server that answered
  bool operator==(const HashSlotRange&) const = default;
};

// The answer of CLUSTER SLOTS; no value when it is invalid.
std::optional<std::vector<HashSlotRange>> parse_hash_slots(const Resp& answer);
// The number of hash slots that no range contains.
std::size_t uncovered_hash_slots(const std::vector<HashSlotRange>& ranges);

}  // namespace cronlatch::redis
