// SPDX-License-Identifier: Apache-2.0
// The format of a record: a version, the facts in a fixed order, lists in the order of their keys,
// "end" and a sum over all that stands before it.
#include "store/file/record_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace cronlatch::file {
namespace {

using rules::Record;
using rules::Seat;

constexpr std::string_view kVersion = "1";
constexpr std::array<std::pair<Seat, std::string_view>, 5> kSeats = {{{Seat::none, "none"},
                                                                      {Seat::free, "free"},
                                                                      {Seat::held, "held"},
                                                                      {Seat::revoked, "revoked"},
                                                                      {Seat::cooling, "cooling"}}};
constexpr std::string_view kNothing =
    "-";                                  // an empty text; a text that is "-" has its dash escaped
constexpr std::size_t kUsualSize = 4096;  // a page, which the text is filled up to
constexpr std::size_t kMostWords = 4;
constexpr std::string_view kEnd = "end";
constexpr std::string_view kHex = "0123456789abcdef";

// The facts in their order; called for writing and for reading, so that the two cannot differ.
template <class StoredT, class Visit>
void each_fact(StoredT& stored, Visit&& visit) {
  auto& r = stored.record;
  visit("seat", r.seat);
  visit("owner", r.claim.owner);
  visit("attempt", r.claim.attempt);
  visit("holder", r.identity.holder);
  visit("job", r.identity.job);
  visit("group", r.identity.group);
  visit("once", r.identity.once);
  visit("fence", r.fence);
  visit("stole", r.stole);
  visit("acquired", r.acquired.us);
  visit("expires", r.expires.us);
  visit("ttl", r.ttl);
  visit("born", r.born.us);
  visit("day", r.day);
  visit("pid", stored.pid);
  visit("pid-namespace", stored.pid_namespace);
}

// The grant's min-hold is written as one more remembered answer, with the time at which it ends:
// the readers of version 0.1.0 know no other line that they keep and do not judge.
std::string min_hold_key(const Record& record) {
  return record.claim.owner + ":" + std::to_string(record.claim.attempt) + ":m";
}

void take_min_hold(Record& record) {
  const auto at = record.seen.find(min_hold_key(record));
  if (at == record.seen.end()) return;
  const std::int64_t from = record.acquired.us, until = at->second;
  if (from >= 0 && until > from) record.min_hold = Micros(until - from);
  record.seen.erase(at);
}

constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::string in_hex(std::uint64_t sum) {
  std::string out(16, '0');
  for (std::size_t i = out.size(); i-- > 0; sum >>= 4) out[i] = kHex[sum & 15];
  return out;
}

// Finds a record that was read while it was being written, or of which a disk kept only a part. The
// step is FNV-1a's (Fowler, Noll, Vo), eight bytes at once, lowest first; the shift lets the high
// bits of a word count as much as its low ones. The last word is filled with zeros.
std::string sum_of(std::string_view text) {
  std::uint64_t sum = kFnvStart + text.size();
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof sum))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    sum = (sum ^ word) * kFnvPrime;
    sum ^= sum >> 32;
  }
  return in_hex(sum);
}

// FNV-1a as it is, byte for byte: the sum in records of earlier builds, which are still read.
std::string former_sum_of(std::string_view text) {
  std::uint64_t sum = kFnvStart;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return in_hex(sum);
}

bool is_plain(char c) { return static_cast<unsigned char>(c) > ' ' && c != '%' && c != 0x7f; }

class Writer {
 public:
  Writer() { text_.reserve(kUsualSize); }
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
      text_ += kNothing;
    } else if (value != kNothing && std::all_of(value.begin(), value.end(), is_plain)) {
      text_ += value;
    } else {
      for (const char c : value) put_escaped_unless_plain(c, value == kNothing);
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
  void put(Seat value) {
    for (const auto& [seat, name] : kSeats)
      if (seat == value) text_ += name;
  }

  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {
    words_.reserve(kMostWords);
    next();
  }

  // The current line is `key` with as many values: stored, and on to the next one.
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
    if (length == rest_.npos) return;  // a line without its end was cut off: no line
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
    if (word.empty() || word.size() > 3 * rules::kLongestText) return false;
    if (word == kNothing) return true;
    if (word.find('%') == word.npos) {
      value = word;
      return value.size() <= rules::kLongestText;
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
    return value.size() <= rules::kLongestText;
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
  static bool get(std::string_view word, Seat& value) {
    for (const auto& [seat, name] : kSeats)
      if (name == word) {
        value = seat;
        return true;
      }
    return false;
  }

  std::string_view rest_;
  std::vector<std::string_view> words_;
  int number_ = 0;
};

bool read_lists(Reader& reader, Record& record) {
  std::string first, second;
  std::int64_t value = 0;
  while (reader.is("counter")) {
    if (!reader.line("counter", first, second, value)) return false;
    if (value < 0 || value > rules::kLargestCounter) return false;
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
    record.seen[first] = value;
  }
  return true;
}

bool read(Reader& reader, const std::string& lock, Stored& stored) {
  std::string of;
  if (!reader.line("lock", of) || of != lock) return false;
  bool good = true;
  each_fact(stored,
            [&](std::string_view key, auto& value) { good = good && reader.line(key, value); });
  // Without a sum: somebody has repaired it by hand.
  std::string sum;
  if (!good || !read_lists(reader, stored.record)) return false;
  take_min_hold(stored.record);
  return (reader.line(kEnd) || reader.line(kEnd, sum)) && reader.at_end();
}

bool sum_is_wrong(std::string_view text) {
  const std::size_t end = text.rfind("\nend ");
  if (end == text.npos) return false;
  const std::string_view summed = text.substr(0, end + 1), sum = text.substr(end + 5);
  return sum != sum_of(summed) + "\n" && sum != former_sum_of(summed) + "\n";
}

}  // namespace

std::string encode(const std::string& lock, const Stored& stored) {
  Writer out;
  out.line("cronlatch-lock", std::string(kVersion));
  out.line("lock", lock);
  each_fact(stored, [&](std::string_view key, const auto& value) { out.line(key, value); });
  for (const auto& [job, counters] : stored.record.jobs)
    for (const auto& [name, value] : counters.values) out.line("counter", job, name, value);
  for (const auto& [group, when] : stored.record.groups) out.line("granted", group, when);
  for (const auto& [job, finished] : stored.record.once)
    for (const auto& [once, when] : finished) out.line("finished", job, once, when);
  for (const auto& [answer, until] : stored.record.seen) out.line("answered", answer, until);
  if (const Record& r = stored.record; r.min_hold > Micros{0})
    out.line("answered", min_hold_key(r), (r.acquired + r.min_hold).us);
  out.line(kEnd, sum_of(out.text()));
  return out.take();
}

Result<Stored> decode(const std::string& lock, std::string_view text) {
  Stored stored;
  if (text.empty()) return stored;
  Reader reader(text);
  std::string version;
  if (!reader.line("cronlatch-lock", version))
    return Error{Code::config, "this is no record of a lock"};
  if (version != kVersion)
    return Error{Code::config, "it has the format of another version (" + version + ")"};
  if (sum_is_wrong(text)) return Error{Code::config, "its sum does not match what it says"};
  if (!read(reader, lock, stored))
    return Error{Code::config, "line " + std::to_string(reader.number()) + " cannot be understood"};
  return stored;
}

}  // namespace cronlatch::file
