// SPDX-License-Identifier: Apache-2.0
// From a record to text.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "store/file/checksum.h"
#include "store/file/record_codec.h"
#include "store/file/record_format.h"

namespace cronlatch::file {
namespace {

using rules::HoldState;
using rules::Record;

constexpr std::size_t kPageSize = 4096;  // most records fit into one page
constexpr std::string_view kHex = "0123456789abcdef";

bool is_plain(char c) { return static_cast<unsigned char>(c) > ' ' && c != '%' && c != 0x7f; }

class Writer {
 public:
  Writer() { text_.reserve(kPageSize); }
  template <class... Values>
  void line(std::string_view key, const Values&... values) {
    text_ += key;
    ((text_ += ' ', put(values)), ...);
    text_ += '\n';
  }
  std::string_view text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void put(const std::string& value) {
    if (value.empty()) {
      text_ += kEmptyText;
    } else if (value != kEmptyText && std::all_of(value.begin(), value.end(), is_plain)) {
      text_ += value;
    } else {
      for (const char c : value) put_escaped_unless_plain(c, value == kEmptyText);
    }
  }
  void put_escaped_unless_plain(char c, bool escape_all) {
    const auto byte = static_cast<unsigned char>(c);
    if (!escape_all && is_plain(c))
      text_ += c;
    else
      text_ += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  template <class Number>
  requires std::is_integral_v<Number>
  void put(Number value) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void put(Micros value) { put(value.count()); }
  void put(HoldState value) {
    for (const auto& [state, name] : kHoldStates)
      if (state == value) text_ += name;
  }

  std::string text_;
};

}  // namespace

std::string encode(const std::string& lock, const Stored& stored) {
  Writer out;
  const bool has_slots = stored.slots > 1;
  out.line(kVersionKey, std::string(has_slots ? kVersionWithSlots : kVersion));
  out.line("lock", lock);
  if (has_slots) out.line("slots", stored.slots, stored.last_fence);
  for_each_field(stored, [&](std::string_view key, const auto& value) { out.line(key, value); });
  for (const auto& [job, counters] : stored.record.jobs)
    for (const auto& [name, value] : counters.values) out.line("counter", job, name, value);
  for (const auto& [group, when] : stored.record.groups) out.line("granted", group, when);
  for (const auto& [job, finished] : stored.record.once)
    for (const auto& [once, when] : finished) out.line("finished", job, once, when);
  for (const auto& [answer, until] : stored.record.answers) out.line("answered", answer, until);
  if (const Record& r = stored.record; r.min_hold > Micros{0})
    out.line("answered", min_hold_key(r), (r.acquired + r.min_hold).us);
  if (has_slots)
    for (const auto& other : stored.others)
      visit_slot(other.second,
                 [&](const auto&... values) { out.line("slot", other.first, values...); });
  out.line(kEnd, checksum(out.text()));
  return out.take();
}

}  // namespace cronlatch::file
