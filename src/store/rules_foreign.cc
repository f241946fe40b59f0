// SPDX-License-Identifier: Apache-2.0
// The key of another program that shares a lock: when it excludes other runs, and what a grant
// writes to it.
#include <algorithm>
#include <charconv>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

// Seconds since 1970, without a sign and a leading zero.
std::optional<std::int64_t> seconds_of(const std::string& text) {
  std::int64_t n = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, n);
  const bool is_plain = text == "0" || (!text.empty() && text.front() >= '1');
  if (error != std::errc{} || stop != end || !is_plain || n >= std::int64_t{1} << 53)
    return std::nullopt;
  return std::min(n, kLatestForeign);
}

std::string token_of(Fence fence) { return "cronlatch:" + std::to_string(fence); }

}  // namespace

KeyState key_state(const std::string& shared, const ForeignKey* foreign, ServerTime now) {
  if (foreign == nullptr || !foreign->value) return {};
  if (*foreign->value == shared && !shared.empty()) return {KeyHold::own};
  const Micros life = foreign->life.value_or(Micros{0});
  if (foreign->format == KeyFormat::redlock) return {KeyHold::foreign, life};
  const auto ends = seconds_of(*foreign->value);
  if (!ends) return {KeyHold::unreadable, life};
  const Micros left = ServerTime{*ends * 1'000'000} + kForeignMargin - now;
  const Micros remaining = std::max(foreign->life ? std::min(left, life) : left, Micros{0});
  return {left > Micros{0} ? KeyHold::foreign : KeyHold::past, remaining};
}

void claim_key(Record& record, ForeignKey* foreign, ServerTime now) {
  if (foreign == nullptr) return;
  record.shared = foreign->format == KeyFormat::redlock
                      ? token_of(record.fence)
                      : std::to_string(now.us / 1'000'000 + kForeignRelease +
                                       static_cast<std::int64_t>(record.fence) % kForeignSpread);
  foreign->value = record.shared;
}

void release_key(Record& record, ForeignKey* foreign, ServerTime now, Micros rest) {
  if (foreign == nullptr) return;
  const KeyState state = key_state(record.shared, foreign, now);
  record.shared.clear();
  if (rest > Micros{0} && !state.is_foreign()) {
    record.shared = foreign->format == KeyFormat::redlock
                        ? token_of(record.fence)
                        : std::to_string((now + rest).us / 1'000'000 + 1);
    foreign->value = record.shared;
  } else if (state.hold == KeyHold::own) {
    foreign->value.reset();
  }
}

Unavailable unreadable_key() {
  return {{Code::config, "the key of another program has a value that it cannot have written"},
          false,
          true};
}

bool show_foreign(LockView& view, const std::string& shared, const ForeignKey& foreign) {
  const KeyState state = key_state(shared, &foreign, view.now);
  const bool is_live = view.state == LockState::held ||
                       (view.state == LockState::revoked && view.now < view.expires);
  if (state.hold == KeyHold::unreadable) return false;
  if (is_live || !state.is_in_effect()) return true;
  view.state = LockState::held;
  view.identity = {.holder = foreign_holder(foreign.format)};
  view.fence = 0;
  view.attempt = 0;
  view.acquired = {};
  view.closed_slots.clear();
  view.ttl = {};
  view.expires = state.remaining > Micros{0} ? view.now + state.remaining : ServerTime{};
  return true;
}

}  // namespace cronlatch::rules
