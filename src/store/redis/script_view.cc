// SPDX-License-Identifier: Apache-2.0
// The hashes of one lock, as HGETALL gives them, to what people are shown. The rules read them like
// any other record.
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "store/redis/script_codec.h"
#include "store/rules.h"

namespace cronlatch::redis {

namespace {

using rules::Record;
using rules::Seat;

Error poisoned(const std::string& lock, std::string_view field) {
  return {Code::config,
          "the store's record of " + lock + " is not one of ours: " + printable(field, 80),
          "see what else writes to this store below this key prefix"};
}

class Hash {
 public:
  explicit Hash(const Fields& fields) : fields_(fields) {}
  std::string text(const std::string& name) {
    const auto at = fields_.find(name);
    if (at != fields_.end() && at->second.size() <= rules::kLongestText) return at->second;
    wrong_ = name;
    return {};
  }
  std::int64_t counter(const std::string& name) {
    const std::int64_t n = number(name);
    if (n > rules::kLargestCounter) wrong_ = name;
    return n;
  }
  std::int64_t number(const std::string& name) {
    const std::string s = text(name);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
    const bool fine =
        error == std::errc{} && end == s.data() + s.size() && n >= 0 && n < (std::int64_t{1} << 53);
    if (!fine) wrong_ = name;
    return fine ? n : 0;
  }
  const std::string& wrong() const { return wrong_; }  // "" while every field was well formed

 private:
  const Fields& fields_;
  std::string wrong_;
};

std::optional<Seat> seat_named(std::string_view name) {
  if (name == "free") return Seat::free;
  if (name == "held") return Seat::held;
  if (name == "revoked") return Seat::revoked;
  if (name == "cooling") return Seat::cooling;
  return std::nullopt;
}

// "<fence>:<length>". One of another grant, which a program that does not know the field leaves
// behind, says nothing.
bool read_min_hold(const Fields& fields, Record& record) {
  const auto at = fields.find("min_hold");
  if (at == fields.end()) return true;
  const std::size_t colon = at->second.find(':');
  if (colon == std::string::npos) return false;
  const Fields parts{{"fence", at->second.substr(0, colon)},
                     {"length", at->second.substr(colon + 1)}};
  Hash both(parts);
  const auto fence = static_cast<Fence>(both.number("fence"));
  const Micros length(both.number("length"));
  if (fence == record.fence) record.min_hold = length;
  return both.wrong().empty();
}

std::optional<std::string> read_record(const Fields& fields, Record& record) {
  if (fields.empty()) return std::nullopt;
  Hash hash(fields);
  const auto seat = seat_named(hash.text("state"));
  if (!seat) return "state";
  record.seat = *seat;
  record.claim.attempt = static_cast<std::uint32_t>(hash.number("attempt"));
  record.identity = {hash.text("holder"), hash.text("job"), hash.text("group"), hash.text("once")};
  record.fence = static_cast<Fence>(hash.number("fence"));
  record.acquired = {hash.number("acquired")};
  record.expires = {hash.number("expires")};
  record.ttl = Micros(hash.number("ttl"));
  record.born = {hash.number("born")};
  if (!read_min_hold(fields, record)) return "min_hold";
  if (hash.wrong().empty()) return std::nullopt;
  return hash.wrong();
}

std::optional<std::string> read_stats(const Fields& fields, Record& record) {
  Hash hash(fields);
  for (const auto& [field, value] : fields) {
    const auto bar = field.find('|');
    if (bar == std::string::npos || field.size() - bar - 1 > rules::kLongestText) return field;
    record.jobs[field.substr(bar + 1)].values[field.substr(0, bar)] = hash.counter(field);
  }
  if (hash.wrong().empty()) return std::nullopt;
  return hash.wrong();
}

}  // namespace

Result<LockView> decode_view(std::string lock, const Fields& record, const Fields& stats,
                             ServerTime now) {
  Record read;
  if (const auto wrong = read_record(record, read)) return poisoned(lock, *wrong);
  if (const auto wrong = read_stats(stats, read)) return poisoned(lock, *wrong);
  return rules::view(std::move(lock), read, now);
}

}  // namespace cronlatch::redis
