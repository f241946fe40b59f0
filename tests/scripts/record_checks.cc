// SPDX-License-Identifier: Apache-2.0
#include "record_checks.h"

#include <gtest/gtest.h>

#include <vector>

namespace cronlatch::testing {

namespace {

bool is_held(const rules::Slot& slot, const std::string& job) {
  return slot.state == rules::HoldState::held && slot.identity.job == job;
}

}  // namespace

std::int64_t open_grants(const rules::Record& stored, const std::string& job) {
  std::int64_t open = is_held(stored, job) ? 1 : 0;
  for (const rules::Slot& slot : stored.more) open += is_held(slot, job) ? 1 : 0;
  return open;
}

void expect_law(const rules::Record& stored) {
  for (const auto& [job, c] : stored.jobs)
    EXPECT_EQ(c.get("acquired") - c.get("released") - c.get("stolen") - c.get("revoked"),
              open_grants(stored, job))
        << "job " << job;
}

namespace {

void expect_same_slot(const rules::Slot& stored, const rules::Slot& expected) {
  EXPECT_EQ(stored.state, expected.state);
  EXPECT_EQ(stored.claim, expected.claim);
  EXPECT_EQ(stored.identity, expected.identity);
  EXPECT_EQ(stored.fence, expected.fence);
  EXPECT_EQ(stored.stole, expected.stole);
  EXPECT_EQ(stored.expires.us, expected.expires.us);
  EXPECT_EQ(stored.ttl, expected.ttl);
  EXPECT_EQ(stored.acquired.us, expected.acquired.us);
  EXPECT_EQ(stored.min_hold, expected.min_hold);
  EXPECT_EQ(stored.turn.has_value(), expected.turn.has_value());
  if (stored.turn && expected.turn) {
    EXPECT_EQ(stored.turn->owner, expected.turn->owner);
    EXPECT_EQ(stored.turn->until.us, expected.turn->until.us);
  }
}

}  // namespace

void expect_same_record(const rules::Record& stored, const rules::Record& expected) {
  if (stored == expected) return;
  {
    SCOPED_TRACE("slot 1");
    expect_same_slot(stored, expected);
  }
  EXPECT_EQ(stored.slots, expected.slots);
  for (std::size_t i = 0; i < stored.more.size() && i < expected.more.size(); ++i) {
    SCOPED_TRACE("slot " + std::to_string(i + 2));
    expect_same_slot(stored.more[i], expected.more[i]);
  }
  for (const auto& [job, counters] : expected.jobs)
    for (const auto& [counter, value] : counters.values) {
      const auto at = stored.jobs.find(job);
      EXPECT_EQ(at == stored.jobs.end() ? -1 : at->second.get(counter), value)
          << counter << '|' << job;
    }
  EXPECT_EQ(stored.answers, expected.answers);
  EXPECT_EQ(stored.queue, expected.queue);
  EXPECT_EQ(stored.asked, expected.asked);
  EXPECT_EQ(stored.groups, expected.groups);
  EXPECT_EQ(stored.once, expected.once);
  EXPECT_TRUE(stored == expected);
}

std::string name_of(const Reply& reply) {
  static const std::vector<std::string> names{"granted",  "busy",     "renewed",     "not holder",
                                              "released", "too late", "unavailable", "quarantined"};
  std::string name = names[reply.index()];
  if (const auto* busy = std::get_if<Busy>(&reply))
    name += " " + std::to_string(static_cast<int>(busy->reason)) +
            (busy->group_granted ? " group" : "") + (busy->ahead ? " place" : "");
  if (const auto* lost = std::get_if<NotHolder>(&reply))
    name += " " + std::to_string(static_cast<int>(lost->reason));
  if (!rules::wake_of(reply).empty()) name += " wakes";
  if (const auto* late = std::get_if<TooLate>(&reply)) name += late->closed ? " closed" : "";
  if (const auto* granted = std::get_if<Granted>(&reply)) name += granted->stole ? " stole" : "";
  if (const auto* renewed = std::get_if<Renewed>(&reply))
    name += renewed->restored ? " restored" : "";
  if (const auto* error = std::get_if<Unavailable>(&reply)) {
    const bool is_slots = error->error.code == Code::config &&
                          error->error.message.find("which is held by") != std::string::npos;
    name = is_slots ? "other slots" : name + ": " + error->error.message;
  }
  return name;
}

}  // namespace cronlatch::testing
