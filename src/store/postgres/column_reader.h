// SPDX-License-Identifier: Apache-2.0
// From the columns of a row to values. Every column is checked: another program may have a schema
// of this name.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "core/store.h"
#include "store/postgres/message.h"
#include "store/rules.h"

namespace cronlatch::postgres {

// No sum of two numbers of a row overflows.
inline constexpr std::int64_t kMaxNumber = std::int64_t{1} << 61;

inline std::optional<std::int64_t> whole(std::string_view s) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (error != std::errc{} || end != s.data() + s.size() || n < 0 || n > kMaxNumber)
    return std::nullopt;
  return n;
}

// Reads a row from left to right; one invalid column makes the whole row invalid.
class ColumnReader {
 public:
  explicit ColumnReader(const Row& row) : row_(row) {}
  std::string text() {
    const bool fine =
        at_ < row_.size() && row_[at_].has_value() && row_[at_]->size() <= rules::kMaxText;
    if (!fine) fine_ = false;
    return fine ? *row_[at_++] : std::string{};
  }
  std::int64_t number() {
    const auto n = whole(text());
    if (!n) fine_ = false;
    return n.value_or(0);
  }
  Fence fence() { return static_cast<Fence>(number()); }
  bool flag() {
    const std::string s = text();
    if (s != "t" && s != "f") fine_ = false;
    return s == "t";
  }
  template <class E>
  E one_of(std::initializer_list<std::pair<std::string_view, E>> names) {
    const std::string s = text();
    for (const auto& [name, value] : names)
      if (s == name) return value;
    fine_ = false;
    return E{};
  }
  bool fine() const { return fine_; }

 private:
  const Row& row_;
  std::size_t at_ = 0;
  bool fine_ = true;
};

inline Error malformed() {
  return {Code::unreachable, "the store returned a row that no function of cronlatch returns",
          "run once, as the owner of the database: cronlatch store init"};
}

}  // namespace cronlatch::postgres
