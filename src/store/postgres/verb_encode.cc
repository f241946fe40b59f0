// SPDX-License-Identifier: Apache-2.0
// From requests to calls. schema/ has the parameters of each function.
#include <algorithm>
#include <variant>

#include "base/digest.h"
#include "base/text.h"
#include "store/postgres/verb_codec.h"
#include "store/verb_text.h"

namespace cronlatch::postgres {
namespace {

constexpr Millis kLongestStatement{3'600'000};
constexpr std::size_t kChannelDigits = 40;

std::string text(ServerTime t) { return std::to_string(std::max<std::int64_t>(t.us, 0)); }
std::string text(bool yes) { return yes ? "t" : "f"; }
// PostgreSQL stores valid UTF-8 without zero bytes only.
std::string text(std::string_view s) {
  std::string valid = valid_utf8(s);
  std::replace(valid.begin(), valid.end(), '\0', '?');
  return valid;
}

using Parameters = std::vector<std::string>;

Parameters parameters_of(const Acquire& a) {
  return {a.claim.owner,
          std::to_string(a.claim.attempt),
          micros_text(a.ttl),
          text(a.identity.holder),
          text(a.identity.job),
          text(a.identity.group),
          text(a.identity.once),
          micros_text(a.once_ttl),
          std::string(name_of(a.if_busy)),
          millis_text(a.waited),
          std::to_string(bucket_of(kWaitBucketsMs, a.waited.count())),
          micros_text(a.min_hold)};
}

Parameters parameters_of(const Renew& r) {
  return {r.claim.owner,           std::to_string(r.claim.attempt),
          std::to_string(r.fence), micros_text(r.ttl),
          text(r.identity.holder), text(r.identity.job),
          text(r.identity.group),  text(r.identity.once)};
}

Parameters parameters_of(const Release& r) {
  return {r.claim.owner,
          std::to_string(r.claim.attempt),
          std::to_string(r.fence),
          std::string(name_of(r.verdict)),
          text(r.overlong),
          millis_text(r.held),
          std::to_string(bucket_of(kHoldBucketsMs, r.held.count())),
          micros_text(r.min_hold),
          micros_text(r.once_ttl),
          text(r.identity.job),
          text(r.identity.once),
          text(r.mark_done),
          text(r.identity.group)};
}

// Version 3 of the schema has no parameter for them.
std::optional<unsigned> slots_of(const Acquire& a) { return a.slots; }
std::optional<unsigned> slots_of(const Renew& r) { return r.slots; }
std::optional<unsigned> slots_of(const Release&) { return std::nullopt; }

std::string_view function_of(const Acquire&) { return "acquire"; }
std::string_view function_of(const Renew&) { return "renew"; }
std::string_view function_of(const Release&) { return "release"; }

std::string select(std::string_view function, const Parameters& parameters) {
  std::string sql = "SELECT * FROM cronlatch." + std::string(function) + "(";
  for (std::size_t i = 1; i <= parameters.size(); ++i)
    sql += (i > 1 ? ", $" : "$") + std::to_string(i);
  return call(sql + ")", parameters);
}

// The settings of the role, the database and the pooler must not change what a request does. The
// warnings are needed: one of them means that a commit was not replicated.
std::string begin(std::string_view mode, Millis limit, std::string_view more = "") {
  const std::string ms = std::to_string(std::clamp(limit, Millis{1}, kLongestStatement).count());
  return simple_query("BEGIN ISOLATION LEVEL " + std::string(mode) +
                      "; SET LOCAL lock_timeout = " + ms + "; SET LOCAL statement_timeout = " + ms +
                      // The rest of a request can be lost with its sender.
                      "; SET LOCAL idle_in_transaction_session_timeout = " + ms +
                      "; SET LOCAL client_min_messages = warning" + std::string(more));
}

std::string transaction(std::string_view function, const Parameters& parameters, Millis limit,
                        std::string_view more = "") {
  return begin("READ COMMITTED READ WRITE", limit, more) + select(function, parameters) +
         simple_query("COMMIT");
}

// A release needs no standby: without its confirmation the lock is busy for longer.
std::string strict_settings(const Request& request, std::size_t standbys) {
  std::string sql = "; SET LOCAL synchronous_commit = on";
  if (!std::holds_alternative<Release>(request))
    sql += "; SELECT cronlatch.require_standbys(" + std::to_string(standbys) + ")";
  return sql;
}

}  // namespace

std::string encode(const Request& request, std::string_view prefix, ServerTime not_after,
                   Millis limit, int schema, std::optional<std::size_t> standbys) {
  const std::string more = standbys ? strict_settings(request, *standbys) : "";
  return std::visit(
      [&](const auto& verb) {
        Parameters all{std::string(prefix), verb.lock, text(not_after)};
        for (std::string& parameter : parameters_of(verb)) all.push_back(std::move(parameter));
        if (const auto slots = slots_of(verb); slots && schema >= kSlotsSchema)
          all.push_back(std::to_string(*slots));
        return transaction(function_of(verb), all, limit, more);
      },
      request);
}

// The same as cronlatch.wake() in schema/queue.sql.
std::string wake_channel(std::string_view owner) {
  return "cronlatch_" + short_digest(owner, kChannelDigits);
}

std::string encode_revoke(std::string_view lock, std::string_view prefix, ServerTime not_after,
                          Millis limit) {
  return transaction("revoke", {std::string(prefix), std::string(lock), text(not_after)}, limit);
}

std::string encode_view(std::string_view prefix, std::string_view lock, std::size_t most,
                        Millis limit, int schema) {
  constexpr std::size_t kMaxRows = std::size_t{1} << 62U;  // a bigint
  const Parameters parameters{std::string(prefix), std::string(lock),
                              std::to_string(std::min(most, kMaxRows))};
  const auto read = [&](std::string_view function) {
    return call("SELECT * FROM cronlatch." + std::string(function) + "($1, nullif($2, ''), $3)",
                parameters);
  };
  // An empty query is answered, too.
  const std::string slot_list = schema >= kSlotsSchema ? read("view_slots") : simple_query("");
  return begin("REPEATABLE READ READ ONLY", limit) + read("view") + slot_list +
         read("view_counters") + simple_query("COMMIT");
}

}  // namespace cronlatch::postgres
