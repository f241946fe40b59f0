// SPDX-License-Identifier: Apache-2.0
// From the rows of view(), view_slots() and view_counters() to views of locks.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "store/postgres/column_reader.h"
#include "store/postgres/verb_codec.h"

namespace cronlatch::postgres {
namespace {

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

// From the column of the state on, as view() and view_slots() return a slot.
void read_slot(ColumnReader& c, rules::Slot& slot) {
  slot.state = c.one_of<rules::HoldState>({{"none", rules::HoldState::none},
                                           {"free", rules::HoldState::free},
                                           {"held", rules::HoldState::held},
                                           {"revoked", rules::HoldState::revoked},
                                           {"cooling", rules::HoldState::cooling}});
  slot.claim.attempt = static_cast<std::uint32_t>(c.number());
  slot.identity = {c.text(), c.text(), c.text(), c.text()};
  slot.fence = c.fence();
  slot.acquired = {c.number()};
  slot.expires = {c.number()};
  slot.ttl = Micros(c.number());
  slot.min_hold = Micros(c.number());
}

// By the lock's id, with the ids of the locks that are damaged.
template <class T>
struct ById {
  std::map<std::string, T> found;
  std::set<std::string> damaged;
};

Result<ById<std::map<std::string, Counters>>> read_all_counters(const std::vector<Row>& rows) {
  ById<std::map<std::string, Counters>> jobs;
  for (const Row& row : rows) {
    ColumnReader c(row);
    const std::string id = c.text();
    if (!c.fine()) return malformed();
    const std::string job = c.text();
    if (!c.fine() || row.size() != 3 || !row[2] || !read_counters(*row[2], jobs.found[id][job]))
      jobs.damaged.insert(id);
  }
  return jobs;
}

Result<ById<std::vector<rules::Slot>>> read_slots(const std::vector<Row>& rows) {
  ById<std::vector<rules::Slot>> slot_list;
  for (const Row& row : rows) {
    ColumnReader c(row);
    const std::string id = c.text();
    if (!c.fine()) return malformed();
    read_slot(c, slot_list.found[id].emplace_back());
    if (!c.fine() || slot_list.found[id].size() >= rules::kMaxSlots) slot_list.damaged.insert(id);
  }
  return slot_list;
}

}  // namespace

Result<std::vector<LockView>> decode_views(const std::vector<Row>& locks,
                                           const std::vector<Row>& slot_list,
                                           const std::vector<Row>& counters) {
  auto jobs = read_all_counters(counters);
  if (!jobs) return jobs.error();
  auto more = read_slots(slot_list);
  if (!more) return more.error();
  std::vector<LockView> views;
  for (const Row& row : locks) {
    ColumnReader c(row);
    rules::Record record;
    const std::string id = c.text();
    const std::string lock = c.text();
    const ServerTime now{c.number()};
    if (!c.fine()) return malformed();
    read_slot(c, record);
    const std::int64_t waiters = c.number();
    if (!c.fine() || jobs->damaged.contains(id) || more->damaged.contains(id)) {
      views.push_back(LockView::of_damaged(lock, now));
      continue;
    }
    record.more = std::move(more->found[id]);
    record.slots = static_cast<unsigned>(1 + record.more.size());
    record.jobs = std::move(jobs->found[id]);
    if (record.state == rules::HoldState::none && record.jobs.empty()) continue;
    views.push_back(rules::view(lock, record, now));
    views.back().waiters = waiters;
  }
  std::sort(views.begin(), views.end(),
            [](const LockView& a, const LockView& b) { return a.lock < b.lock; });
  return views;
}

}  // namespace cronlatch::postgres
