// SPDX-License-Identifier: Apache-2.0
// The format of a record, for the writer and the reader: the version, the fields in a fixed order,
// lists in the order of their keys, then "end" and a checksum of all the text before it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "store/file/record_codec.h"

namespace cronlatch::file {

inline constexpr std::string_view kVersionKey = "cronlatch-lock";
inline constexpr std::string_view kVersion = "1";
// Of a lock with several slots, while one of them is in use. Version 0.1.0 refuses it (exit 78).
inline constexpr std::string_view kVersionWithSlots = "2";
inline constexpr std::string_view kEnd = "end";
// An empty text. A text that is "-" has its dash escaped.
inline constexpr std::string_view kEmptyText = "-";

inline constexpr std::array<std::pair<rules::HoldState, std::string_view>, 5> kHoldStates = {
    {{rules::HoldState::none, "none"},
     {rules::HoldState::free, "free"},
     {rules::HoldState::held, "held"},
     {rules::HoldState::revoked, "revoked"},
     {rules::HoldState::cooling, "cooling"}}};

// Calls `visit` with each field in order. The writer and the reader both use it, so that they
// cannot differ.
template <class StoredT, class Visit>
void for_each_field(StoredT& stored, Visit&& visit) {
  auto& r = stored.record;
  visit("seat", r.state);  // the name that version 0.1.0 writes and reads
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

// The line of slot 2 and higher.
template <class Grant, class Visit>
auto visit_slot(Grant& g, Visit&& visit) {
  return visit(g.state, g.claim.owner, g.claim.attempt, g.identity.holder, g.identity.job,
               g.identity.group, g.identity.once, g.fence, g.stole, g.acquired.us, g.expires.us,
               g.ttl, g.min_hold, g.pid, g.pid_namespace);
}

// The min-hold of the grant is written as one more answer, with the time at which it ends. Version
// 0.1.0 keeps unknown answers, and no other unknown line.
inline std::string min_hold_key(const rules::Record& record) {
  return record.claim.owner + ":" + std::to_string(record.claim.attempt) + ":m";
}

}  // namespace cronlatch::file
