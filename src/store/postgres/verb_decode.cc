// SPDX-License-Identifier: Apache-2.0
// From rows to values. Every column is checked: another program may have a schema of this name.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "store/postgres/verb_codec.h"
#include "store/rules.h"

namespace cronlatch::postgres {
namespace {

// No sum of two numbers of a row overflows.
constexpr std::int64_t kMaxNumber = std::int64_t{1} << 61;

std::optional<std::int64_t> whole(std::string_view s) {
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

Error malformed() {
  return {Code::unreachable, "the store returned a row that no function of cronlatch returns",
          "run once, as the owner of the database: cronlatch store init"};
}

// The columns that every verb returns; those that its verdict does not use are null. Renew and
// revoke end with kLeft.
enum Column : std::size_t {
  kVerdict,
  kNow,
  kFence,
  kFlag,
  kReason,
  kHolder,
  kJob,
  kHeldFor,
  kLeft,
  kAhead,
  kWake,
};
constexpr std::size_t kShortRow = kLeft + 1;
constexpr std::size_t kLongRow = kWake + 1;

std::size_t columns_of(const Request& request) {
  return std::holds_alternative<Renew>(request) ? kShortRow : kLongRow;
}

// These columns of a row, in this order.
Row columns(const Row& row, std::initializer_list<Column> wanted) {
  Row found;
  for (const Column column : wanted) found.push_back(row[column]);
  return found;
}

std::optional<Reply> busy(const Row& row) {
  const Row used = columns(row, {kReason, kHolder, kJob, kFence, kHeldFor, kLeft, kFlag, kWake});
  ColumnReader c(used);
  Busy b;
  b.reason = c.one_of<BusyReason>({{"held", BusyReason::held},
                                   {"cooling", BusyReason::cooling},
                                   {"done", BusyReason::done},
                                   {"queued", BusyReason::queued}});
  b.holder = c.text();
  b.job = c.text();
  b.fence = c.fence();
  b.held_for = Micros(c.number());
  b.remaining = Micros(c.number());
  b.group_granted = c.flag();
  b.wake = c.text();
  if (!c.fine()) return std::nullopt;
  if (!row[kAhead]) return b;
  const auto ahead = whole(*row[kAhead]);
  if (!ahead || *ahead > kMaxAhead) return std::nullopt;
  b.ahead = static_cast<std::uint32_t>(*ahead);
  return b;
}

std::optional<Reply> granted(const Row& row) {
  const Row used = columns(row, {kFence, kFlag});
  ColumnReader c(used);
  Granted g;
  g.fence = c.fence();
  g.stole = c.flag();
  if (!c.fine() || g.fence == 0) return std::nullopt;
  return g;
}

std::optional<Reply> not_holder(const Row& row) {
  const Row used = columns(row, {kReason});
  ColumnReader c(used);
  NotHolder lost{c.one_of<LostReason>({{"expired", LostReason::expired},
                                       {"taken", LostReason::taken},
                                       {"revoked", LostReason::revoked},
                                       {"gone", LostReason::gone}})};
  if (!c.fine()) return std::nullopt;
  if (row.size() == kLongRow) lost.wake = row[kWake].value_or("");
  return lost;
}

// No value for a row that the verb's function does not return.
template <class Verb>
std::optional<Reply> answer(const std::string& verdict, const Row& row) {
  const bool flag = row[kFlag] == "t";
  if (verdict == "late") return TooLate{flag};
  if constexpr (std::is_same_v<Verb, Acquire>) {
    if (verdict == "busy") return busy(row);
    if (verdict == "granted") return granted(row);
  } else {
    if (verdict == "lost") return not_holder(row);
    if constexpr (std::is_same_v<Verb, Renew>) {
      if (verdict == "kept") return Renewed{{}, flag};
    } else {
      if (verdict == "released") return Released{row[kWake].value_or("")};
    }
  }
  return std::nullopt;
}

std::optional<rules::HoldState> hold_state_named(std::string_view name) {
  using rules::HoldState;
  if (name == "none") return HoldState::none;
  if (name == "free") return HoldState::free;
  if (name == "held") return HoldState::held;
  if (name == "revoked") return HoldState::revoked;
  if (name == "cooling") return HoldState::cooling;
  return std::nullopt;
}

// name=value, separated by commas.
bool read_counters(std::string_view text, Counters& counters) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return false;
    const auto value = whole(item.substr(equals + 1));
    if (!value || *value > rules::kMaxCounter) return false;
    counters.values[std::string(item.substr(0, equals))] = *value;
  }
  return true;
}

}  // namespace

Decoded decode(const Request& request, const std::vector<Row>& rows) {
  const Decoded invalid{Unavailable{malformed(), true, false}, {}};
  if (rows.size() != 1 || rows[0].size() != columns_of(request) || !rows[0][kVerdict])
    return invalid;
  const Row& row = rows[0];
  const auto now = whole(row[kNow].value_or(""));
  const auto reply = std::visit(
      [&]<class Verb>(const Verb&) { return answer<Verb>(*row[kVerdict], row); }, request);
  if (!reply || !now) return invalid;
  return {*reply, ServerTime{*now}};
}

Result<Revoked> decode_revoke(const std::vector<Row>& rows) {
  if (rows.size() != 1 || rows[0].size() != kShortRow) return malformed();
  if (rows[0][kVerdict] == "late")
    return Error{Code::unreachable,
                 "the request arrived at the store after its deadline; nothing was changed",
                 "try again"};
  const Row used = columns(rows[0], {kReason, kHolder, kFence, kLeft});
  ColumnReader c(used);
  Revoked revoked;
  enum class Ended { none, lease, min_hold };
  const Ended ended = c.one_of<Ended>(
      {{"none", Ended::none}, {"lease", Ended::lease}, {"min_hold", Ended::min_hold}});
  revoked.was_held = ended == Ended::lease;
  revoked.was_cooling = ended == Ended::min_hold;
  revoked.holder = c.text();
  revoked.fence = c.fence();
  revoked.remaining = Micros(c.number());
  if (rows[0][kVerdict] != "revoked" || !c.fine()) return malformed();
  return revoked;
}

Result<std::vector<LockView>> decode_views(const std::vector<Row>& locks,
                                           const std::vector<Row>& counters) {
  std::map<std::string, std::map<std::string, Counters>> jobs;  // by the lock's id
  std::set<std::string> damaged;
  for (const Row& row : counters) {
    ColumnReader c(row);
    const std::string id = c.text();
    if (!c.fine()) return malformed();
    const std::string job = c.text();
    if (!c.fine() || row.size() != 3 || !row[2] || !read_counters(*row[2], jobs[id][job]))
      damaged.insert(id);
  }
  std::vector<LockView> views;
  for (const Row& row : locks) {
    ColumnReader c(row);
    rules::Record record;
    const std::string id = c.text();
    const std::string lock = c.text();
    const ServerTime now{c.number()};
    if (!c.fine()) return malformed();
    const auto state = hold_state_named(c.text());
    record.claim.attempt = static_cast<std::uint32_t>(c.number());
    record.identity = {c.text(), c.text(), c.text(), c.text()};
    record.fence = c.fence();
    record.acquired = {c.number()};
    record.expires = {c.number()};
    record.ttl = Micros(c.number());
    record.min_hold = Micros(c.number());
    const std::int64_t waiters = c.number();
    if (!c.fine() || !state || damaged.contains(id)) {
      views.push_back(LockView::of_damaged(lock, now));
      continue;
    }
    record.state = *state;
    record.jobs = std::move(jobs[id]);
    if (record.state == rules::HoldState::none && record.jobs.empty()) continue;
    views.push_back(rules::view(lock, record, now));
    views.back().waiters = waiters;
  }
  std::sort(views.begin(), views.end(),
            [](const LockView& a, const LockView& b) { return a.lock < b.lock; });
  return views;
}

}  // namespace cronlatch::postgres
