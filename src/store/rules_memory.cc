// SPDX-License-Identifier: Apache-2.0
// The groups and marks of a record: attempt groups that were granted (L5), run identities that are
// finished (K6).
#include <algorithm>

#include "store/rules_internal.h"

namespace cronlatch::rules {

namespace {

// Equal dates are ordered by name, as in a sorted set of Redis.
bool dated_before(const Dated::value_type& a, const Dated::value_type& b) {
  return a.second != b.second ? a.second < b.second : a.first < b.first;
}

// The oldest are dropped.
void keep_newest(Dated& dated, std::size_t most) {
  while (dated.size() > most)
    dated.erase(std::min_element(dated.begin(), dated.end(), dated_before));
}

}  // namespace

std::int64_t newest_date(const Dated& dated, const std::string& name, std::int64_t wanted) {
  const auto newest = std::max_element(dated.begin(), dated.end(), dated_before);
  if (newest == dated.end() || newest->second < wanted) return wanted;
  return newest->first == name ? newest->second : newest->second + 1;
}

bool group_was_granted(const Record& record, const std::string& group, ServerTime now) {
  if (group.empty()) return false;
  for (const Slot* slot : slot_list_of(record))
    if (slot->state != HoldState::none && slot->identity.group == group) return true;
  const auto at = record.groups.find(group);
  return at != record.groups.end() && at->second > (now - kGroupMemory).us;
}

void remember_group(Record& record, const std::string& group, GroupState is, ServerTime now) {
  if (group.empty()) return;
  purge(record.groups, (now - kGroupMemory).us);
  record.groups[group] = is == GroupState::finished
                             ? now.us
                             : newest_date(record.groups, group, (now + kGroupAhead).us);
  keep_newest(record.groups, kMaxGroups);
}

bool is_done(const Record& record, const Identity& identity, Micros once_ttl, ServerTime now) {
  const auto job = record.once.find(identity.job);
  if (identity.once.empty() || job == record.once.end()) return false;
  const auto at = job->second.find(identity.once);
  return at != job->second.end() && at->second > (now - once_ttl).us;
}

void mark_done(Record& record, const Identity& identity, Micros once_ttl, ServerTime now) {
  // A repeated mark keeps its date.
  if (identity.once.empty() || once_ttl <= Micros{0} || is_done(record, identity, once_ttl, now))
    return;
  Dated& finished = record.once[identity.job];
  purge(finished, (now - once_ttl).us);
  finished[identity.once] = newest_date(finished, identity.once, now.us);
  keep_newest(finished, kMaxOnceMarks);
}

}  // namespace cronlatch::rules
