// SPDX-License-Identifier: Apache-2.0
// From the rows of verbs to replies.
#include <optional>
#include <type_traits>
#include <variant>

#include "store/postgres/column_reader.h"
#include "store/postgres/verb_codec.h"
#include "store/rules.h"

namespace cronlatch::postgres {
namespace {

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

std::optional<Reply> other_slots(const Acquire& request, const Row& row) {
  const Row used = columns(row, {kFence, kHolder});
  ColumnReader c(used);
  const std::int64_t slots = c.number();
  const std::string holder = c.text();
  if (!c.fine() || slots < 1 || slots > rules::kMaxSlots) return std::nullopt;
  return rules::other_slots(request, static_cast<unsigned>(slots), holder);
}

// No value for a row that the verb's function does not return.
template <class Verb>
std::optional<Reply> answer(const Verb& verb, const std::string& verdict, const Row& row) {
  const bool flag = row[kFlag] == "t";
  if (verdict == "late") return TooLate{flag};
  if constexpr (std::is_same_v<Verb, Acquire>) {
    if (verdict == "busy") return busy(row);
    if (verdict == "granted") return granted(row);
    if (verdict == "slots") return other_slots(verb, row);
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

}  // namespace

DecodedRow decode(const Request& request, const std::vector<Row>& rows) {
  const DecodedRow invalid{Unavailable{malformed(), true, false}, {}};
  if (rows.size() != 1 || rows[0].size() != columns_of(request) || !rows[0][kVerdict])
    return invalid;
  const Row& row = rows[0];
  const auto now = whole(row[kNow].value_or(""));
  const auto reply =
      std::visit([&](const auto& verb) { return answer(verb, *row[kVerdict], row); }, request);
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

}  // namespace cronlatch::postgres
