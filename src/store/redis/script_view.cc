// SPDX-License-Identifier: Apache-2.0
// From the hashes of one lock, read by HGETALL, to a LockView.
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "store/redis/script_codec.h"
#include "store/rules.h"

namespace cronlatch::redis {

namespace {

using rules::HoldState;
using rules::Record;

Error damaged_record(const std::string& lock, std::string_view field) {
  return {Code::config,
          "the record of " + lock +
              " in the store is damaged or was written by another program: " + printable(field, 80),
          "check which other program writes to this store with this key prefix"};
}

class Hash {
 public:
  explicit Hash(const Fields& fields) : fields_(fields) {}
  std::string text(const std::string& name) {
    const auto at = fields_.find(name);
    if (at != fields_.end() && at->second.size() <= rules::kMaxText) return at->second;
    wrong_ = name;
    return {};
  }
  std::int64_t counter(const std::string& name) {
    const std::int64_t n = number(name);
    if (n > rules::kMaxCounter) wrong_ = name;
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
  const std::string& wrong() const { return wrong_; }  // "" while every field was valid

 private:
  const Fields& fields_;
  std::string wrong_;
};

// "<fence>:<length>". A value with another fence was left by an older version, and is
// ignored.
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
  const auto state = hold_state_named(hash.text("state"));
  if (!state) return "state";
  record.state = *state;
  record.claim.attempt = static_cast<std::uint32_t>(hash.number("attempt"));
  record.identity = {hash.text("holder"), hash.text("job"), hash.text("group"), hash.text("once")};
  record.fence = static_cast<Fence>(hash.number("fence"));
  record.acquired = {hash.number("acquired")};
  record.expires = {hash.number("expires")};
  record.ttl = Micros(hash.number("ttl"));
  record.born = {hash.number("born")};
  const std::int64_t slots = hash.number("slots");
  if (slots < 1 || slots > rules::kMaxSlots) return "slots";
  record.slots = static_cast<unsigned>(slots);
  if (!read_min_hold(fields, record)) return "min_hold";
  if (hash.wrong().empty()) return std::nullopt;
  return hash.wrong();
}

// A slot without a field was not granted yet.
std::optional<std::string> read_slots(const Fields& fields, Record& record) {
  if (record.slots > 1) record.more.resize(record.slots - 1);
  for (std::size_t i = 0; i < record.more.size(); ++i) {
    const std::string name = std::to_string(i + 2);
    const auto at = fields.find(name);
    if (at == fields.end()) continue;
    auto slot = unpack_slot(at->second);
    if (!slot) return "slot " + name;
    record.more[i] = std::move(*slot);
  }
  return std::nullopt;
}

std::optional<std::string> read_stats(const Fields& fields, Record& record) {
  Hash hash(fields);
  for (const auto& [field, value] : fields) {
    const auto bar = field.find('|');
    if (bar == std::string::npos || field.size() - bar - 1 > rules::kMaxText) return field;
    record.jobs[field.substr(bar + 1)].values[field.substr(0, bar)] = hash.counter(field);
  }
  if (hash.wrong().empty()) return std::nullopt;
  return hash.wrong();
}

}  // namespace

Result<LockView> decode_view(std::string lock, const Fields& record, const Fields& stats,
                             ServerTime now, const Fields& slot_list) {
  Record read;
  if (const auto wrong = read_record(record, read)) return damaged_record(lock, *wrong);
  if (const auto wrong = read_slots(slot_list, read)) return damaged_record(lock, *wrong);
  if (const auto wrong = read_stats(stats, read)) return damaged_record(lock, *wrong);
  return rules::view(std::move(lock), read, now);
}

}  // namespace cronlatch::redis
