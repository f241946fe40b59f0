// SPDX-License-Identifier: Apache-2.0
// From text to a record.
#include <charconv>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <vector>

#include "store/file/checksum.h"
#include "store/file/names.h"
#include "store/file/record_codec.h"
#include "store/file/record_format.h"

namespace cronlatch::file {
namespace {

using rules::HoldState;
using rules::Record;

constexpr std::size_t kMaxWords = 17;  // of the line of a slot

void extract_min_hold(Record& record) {
  const auto at = record.answers.find(min_hold_key(record));
  if (at == record.answers.end()) return;
  const std::int64_t from = record.acquired.us, until = at->second;
  if (from >= 0 && until > from) record.min_hold = Micros(until - from);
  record.answers.erase(at);
}

class RecordReader {
 public:
  explicit RecordReader(std::string_view text) : rest_(text) {
    words_.reserve(kMaxWords);
    next();
  }

  // True when the current line is `key` with as many values. Stores them and reads the next line.
  template <class... Values>
  bool line(std::string_view key, Values&... values) {
    if (!is(key) || words_.size() != 1 + sizeof...(values)) return false;
    std::size_t at = 0;
    if (!(get(words_[++at], values) && ...)) return false;
    next();
    return true;
  }
  bool is(std::string_view key) const { return !words_.empty() && words_[0] == key; }
  bool at_end() const { return words_.empty() && rest_.empty(); }
  int number() const { return number_; }

 private:
  void next() {
    words_.clear();
    ++number_;
    const std::size_t length = rest_.find('\n');
    if (length == rest_.npos) return;  // a line without its newline is incomplete
    std::string_view line = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    for (;;) {
      const std::size_t space = line.find(' ');
      words_.push_back(line.substr(0, space));
      if (space == line.npos) return;
      line.remove_prefix(space + 1);
    }
  }
  static bool get(std::string_view word, std::string& value) {
    value.clear();
    if (word.empty() || word.size() > 3 * rules::kMaxText) return false;
    if (word == kEmptyText) return true;
    if (word.find('%') == word.npos) {
      value = word;
      return value.size() <= rules::kMaxText;
    }
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '%') {
        value += word[i];
        continue;
      }
      unsigned byte = 0;
      if (i + 2 >= word.size()) return false;
      const auto [end, error] = std::from_chars(&word[i + 1], &word[i + 1] + 2, byte, 16);
      if (error != std::errc{} || end != &word[i + 1] + 2) return false;
      value += static_cast<char>(byte);
      i += 2;
    }
    return value.size() <= rules::kMaxText;
  }
  template <class Number>
  requires std::is_integral_v<Number>
  static bool get(std::string_view word, Number& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size();
  }
  static bool get(std::string_view word, Micros& value) {
    Micros::rep count = 0;
    if (!get(word, count)) return false;
    value = Micros(count);
    return true;
  }
  static bool get(std::string_view word, HoldState& value) {
    for (const auto& [state, name] : kHoldStates)
      if (name == word) {
        value = state;
        return true;
      }
    return false;
  }

  std::string_view rest_;
  std::vector<std::string_view> words_;
  int number_ = 0;
};

bool read_lists(RecordReader& reader, Record& record) {
  std::string first, second;
  std::int64_t value = 0;
  while (reader.is("counter")) {
    if (!reader.line("counter", first, second, value)) return false;
    if (value < 0 || value > rules::kMaxCounter) return false;
    record.jobs[first].values[second] = value;
  }
  while (reader.is("granted")) {
    if (!reader.line("granted", first, value)) return false;
    record.groups[first] = value;
  }
  while (reader.is("finished")) {
    if (!reader.line("finished", first, second, value)) return false;
    record.once[first][second] = value;
  }
  while (reader.is("answered")) {
    if (!reader.line("answered", first, value)) return false;
    record.answers[first] = value;
  }
  return true;
}

bool read_slots(RecordReader& reader, Stored& stored) {
  unsigned slot = 0;
  SlotGrant grant;
  while (reader.is("slot")) {
    const bool good =
        visit_slot(grant, [&](auto&... values) { return reader.line("slot", slot, values...); });
    if (!good || slot < 2 || slot > stored.slots) return false;
    stored.others[slot] = grant;
  }
  return true;
}

bool read(RecordReader& reader, const std::string& lock, bool has_slots, Stored& stored) {
  std::string of;
  if (!reader.line("lock", of) || of != lock) return false;
  if (has_slots && !reader.line("slots", stored.slots, stored.last_fence)) return false;
  if (has_slots && (stored.slots < 2 || stored.slots > kMaxSlots)) return false;
  bool good = true;
  for_each_field(
      stored, [&](std::string_view key, auto& value) { good = good && reader.line(key, value); });
  // A record without a checksum was edited by hand.
  std::string sum;
  if (!good || !read_lists(reader, stored.record)) return false;
  extract_min_hold(stored.record);
  if (has_slots && !read_slots(reader, stored)) return false;
  return (reader.line(kEnd) || reader.line(kEnd, sum)) && reader.at_end();
}

bool has_wrong_checksum(std::string_view text) {
  const std::size_t end = text.rfind("\nend ");
  if (end == text.npos) return false;
  const std::string_view summed = text.substr(0, end + 1), sum = text.substr(end + 5);
  return sum != checksum(summed) + "\n" && sum != checksum_of_0_1_0(summed) + "\n";
}

}  // namespace

Result<Stored> decode(const std::string& lock, std::string_view text) {
  Stored stored;
  if (text.empty()) return stored;
  RecordReader reader(text);
  std::string version;
  if (!reader.line(kVersionKey, version))
    return Error{Code::config, "this is not a record of a lock"};
  const bool has_slots = version == kVersionWithSlots;
  if (version != kVersion && !has_slots)
    return Error{Code::config, "it has the format of another version (" + version + ")"};
  if (has_wrong_checksum(text)) return Error{Code::config, "the checksum does not match the text"};
  if (!read(reader, lock, has_slots, stored))
    return Error{Code::config, "line " + std::to_string(reader.number()) + " is invalid"};
  return stored;
}

}  // namespace cronlatch::file
