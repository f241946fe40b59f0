// SPDX-License-Identifier: Apache-2.0
// From a value of the key `slots` to a slot. scripts/common_slots.lua describes the text.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "store/redis/script_codec.h"
#include "store/rules.h"

namespace cronlatch::redis {

namespace {

// Reads words, each followed by a space, then texts of a given length.
class PackedReader {
 public:
  explicit PackedReader(std::string_view rest) : rest_(rest) {}

  std::string_view word() {
    const std::size_t space = rest_.find(' ');
    if (space == std::string_view::npos) return fail();
    const std::string_view found = rest_.substr(0, space);
    rest_.remove_prefix(space + 1);
    return found;
  }
  // As in the scripts: without a sign and a leading zero, and below 2^53.
  std::int64_t number() {
    const std::string_view digits = word();
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    const bool is_plain = digits == "0" || (!digits.empty() && digits.front() >= '1');
    if (error == std::errc{} && end == digits.data() + digits.size() && is_plain &&
        n < std::int64_t{1} << 53)
      return n;
    fail();
    return 0;
  }
  std::string text(std::int64_t length) {
    if (length > static_cast<std::int64_t>(std::min(rest_.size(), rules::kMaxText)))
      return std::string(fail());
    const auto bytes = static_cast<std::size_t>(length);
    std::string found(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return found;
  }
  bool complete() const { return is_valid_ && rest_.empty(); }

 private:
  std::string_view fail() {
    is_valid_ = false;
    return {};
  }

  std::string_view rest_;
  bool is_valid_ = true;
};

}  // namespace

std::optional<rules::HoldState> hold_state_named(std::string_view name) {
  if (name == "free") return rules::HoldState::free;
  if (name == "held") return rules::HoldState::held;
  if (name == "revoked") return rules::HoldState::revoked;
  if (name == "cooling") return rules::HoldState::cooling;
  return std::nullopt;
}

std::optional<rules::Slot> unpack_slot(std::string_view packed) {
  PackedReader reader(packed);
  rules::Slot slot;
  const std::string_view state = reader.word();
  const std::int64_t attempt = reader.number();
  slot.claim.attempt = static_cast<std::uint32_t>(attempt);
  slot.fence = static_cast<Fence>(reader.number());
  slot.stole = static_cast<Fence>(reader.number());
  slot.acquired = {reader.number()};
  slot.expires = {reader.number()};
  slot.ttl = Micros(reader.number());
  slot.min_hold = Micros(reader.number());
  const ServerTime until{reader.number()};
  std::array<std::int64_t, 6> lengths;
  for (std::int64_t& length : lengths) length = reader.number();
  slot.claim.owner = reader.text(lengths[0]);
  slot.identity = {reader.text(lengths[1]), reader.text(lengths[2]), reader.text(lengths[3]),
                   reader.text(lengths[4])};
  rules::Turn turn{reader.text(lengths[5]), until};
  if (until.us > 0) slot.turn = std::move(turn);
  // A slot that was not granted yet can be reserved.
  const auto known = state == "none" ? rules::HoldState::none : hold_state_named(state);
  if (!known || !reader.complete()) return std::nullopt;
  slot.state = *known;
  if ((slot.state == rules::HoldState::none) != (slot.fence == 0)) return std::nullopt;
  return slot;
}

}  // namespace cronlatch::redis
