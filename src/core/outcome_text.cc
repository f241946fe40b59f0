// SPDX-License-Identifier: Apache-2.0
#include "core/outcome_text.h"

#include <algorithm>
#include <charconv>

#include "base/duration.h"
#include "base/rfc3339.h"

namespace cronlatch {
namespace {

std::string_view result_of(Kind kind, Reason reason) {
  switch (kind) {
    case Kind::ran:
      return reason == Reason::ungated ? "ran without a lock" : "ran to its end";
    case Kind::skipped:
      return "skipped";
    case Kind::lost:
    case Kind::timed_out:
      return "stopped";
    case Kind::busy:
    case Kind::store_down:
    case Kind::refused:
    case Kind::interrupted:
    case Kind::cannot_start:
    case Kind::usage:
      return "not started";
  }
  return "";
}

std::string because(Reason reason) {
  for (const ReasonRow& row : reason_table()) {
    if (row.reason != reason) continue;
    std::string clause = " because " + std::string(row.meaning);
    std::erase(clause, '`');  // the table marks code as documentation does
    return clause;
  }
  return "";
}

// The fence of a lock is the microsecond, by the store's clock, at which it was granted (later only
// where two grants were closer than that).
std::string granted_at(const OutcomeFacts& facts) {
  constexpr std::size_t kDigitsOfMicros = 16;  // from the year 2001 to 2286
  if (!facts.since.empty()) return facts.since;
  if (facts.fence.size() != kDigitsOfMicros) return "";
  std::int64_t micros = 0;
  const char* const end = facts.fence.data() + facts.fence.size();
  const auto [stop, error] = std::from_chars(facts.fence.data(), end, micros);
  return error == std::errc() && stop == end && micros > 0 ? rfc3339({micros}) : "";
}

std::string lock_is_held(const OutcomeFacts& facts) {
  std::string text =
      "lock " + facts.lock + " is held by " + (facts.holder.empty() ? "another run" : facts.holder);
  if (const std::string since = granted_at(facts); !since.empty()) text += " since " + since;
  if (!facts.until.empty()) text += ", lease until " + facts.until;
  return text;
}

std::string ran(const OutcomeFacts& facts) {
  const std::string exit = "; exit code " + std::to_string(facts.exit_code);
  if (facts.reason == Reason::ungated) return outcome_summary(facts.kind, facts.reason) + exit;
  return "held lock " + facts.lock + " for " + rounded_duration(facts.held) + " after a wait of " +
         rounded_duration(facts.waited) + " (fence " + facts.fence + ")" + exit;
}

std::string stopped(const OutcomeFacts& facts) {
  return "stopped after " + rounded_duration(facts.held) + because(facts.reason) + "; lock " +
         facts.lock + ", fence " + facts.fence;
}

}  // namespace

std::string outcome_summary(Kind kind, Reason reason) {
  return std::string(result_of(kind, reason)) + because(reason);
}

std::string outcome_sentence(const OutcomeFacts& facts) {
  const std::string summary = outcome_summary(facts.kind, facts.reason);
  switch (facts.kind) {
    case Kind::ran:
      return ran(facts);
    case Kind::skipped:
      if (facts.reason != Reason::held) return summary;
      return "skipped because " + lock_is_held(facts);
    case Kind::busy:
      if (facts.reason != Reason::wait_timeout) return "not started because " + lock_is_held(facts);
      return summary + " after " + rounded_duration(facts.waited) + "; " + lock_is_held(facts);
    case Kind::lost:
    case Kind::timed_out:
      return stopped(facts);
    case Kind::store_down:
      return summary + "; retried for " + rounded_duration(facts.waited);
    case Kind::refused:
    case Kind::interrupted:
    case Kind::cannot_start:
    case Kind::usage:
      return summary;
  }
  return summary;
}

}  // namespace cronlatch
