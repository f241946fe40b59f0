// SPDX-License-Identifier: Apache-2.0
#include "config/child_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "config/environment.h"

namespace cronlatch {
namespace {

using Environment = std::vector<std::string>;

Options held() {
  Options options;
  options.lock = "reports/nightly";
  options.holder = "node1:42";
  return options;
}

TEST(ChildEnvironment, ContainsTheLock) {
  const Environment out =
      child_environment(Environment{"PATH=/bin", "X"}, held(), {1'763'690'000'123'456, true});
  EXPECT_EQ(out, (Environment{"PATH=/bin", "X", "CRONLATCH_LOCK_NAME=reports/nightly",
                              "CRONLATCH_LOCK_HOLDER=node1:42", "CRONLATCH_FENCE=1763690000123456",
                              "CRONLATCH_LEASE_MS=120000"}));
}

TEST(ChildEnvironment, RemovesThePasswordAndTheOptionsOfThisRun) {
  // given: every variable that we know
  Environment all = {"CRONLATCH_PASSWORD=hunter2", "CRONLATCH_PASSWORD=hunter2"};
  for (const Option& option : option_table())
    if (!variable_of(option).empty()) all.push_back(variable_of(option) + "=x");
  // when
  const Environment out = scrubbed_environment(all);
  // then
  for (const Option& option : option_table()) {
    if (variable_of(option).empty()) continue;
    const bool kept = std::find(out.begin(), out.end(), variable_of(option) + "=x") != out.end();
    EXPECT_EQ(kept, option.scope != Scope::run) << option.key;
  }
  for (const std::string& entry : out) EXPECT_EQ(entry.find("hunter2"), std::string::npos);
}

TEST(ChildEnvironment, KeepsVariablesThatOnlyResembleAnOptionOfThisRun) {
  const Environment kept = {"CRONLATCH_LOCKS=1", "XCRONLATCH_LOCK=1", "LOCK=1",
                            "CRONLATCH_STORE=redis://h", "CRONLATCH_ONCE_TTL=1d"};
  EXPECT_EQ(scrubbed_environment(kept), kept);
}

TEST(ChildEnvironment, ReplacesTheVariablesOfAnOuterRun) {
  const Environment outer = {"CRONLATCH_LOCK_NAME=outer", "CRONLATCH_FENCE=1",
                             "CRONLATCH_LOCK_HOLDER=o", "CRONLATCH_LEASE_MS=1",
                             "CRONLATCH_ATTEMPT_GROUP=u"};
  EXPECT_EQ(child_environment(outer, held(), {7, true}),
            (Environment{"CRONLATCH_LOCK_NAME=reports/nightly", "CRONLATCH_LOCK_HOLDER=node1:42",
                         "CRONLATCH_FENCE=7", "CRONLATCH_LEASE_MS=120000"}));
}

TEST(ChildEnvironment, GivesNoFenceToAnUngatedCommand) {
  EXPECT_EQ(child_environment(Environment{"CRONLATCH_FENCE=1"}, held(), {0, true}),
            (Environment{"CRONLATCH_LOCK_NAME=reports/nightly", "CRONLATCH_LOCK_HOLDER=node1:42"}));
}

TEST(ChildEnvironment, GivesNoLeaseWhereThereIsNone) {
  EXPECT_EQ(child_environment(Environment{}, held(), {7, false}),
            (Environment{"CRONLATCH_LOCK_NAME=reports/nightly", "CRONLATCH_LOCK_HOLDER=node1:42",
                         "CRONLATCH_FENCE=7"}));
}

TEST(ChildEnvironment, ContainsTheScheduledTime) {
  Options options = held();
  options.once_per = "reports/nightly@1795226400";
  EXPECT_EQ(child_environment(Environment{}, options, {7, false}).back(),
            "CRONLATCH_SCHEDULED_TIME=2026-11-21T02:00:00Z");
  for (const char* none :
       {"", "a", "a@", "a@x", "a@1x", "a@-1", "a@1.5", "a@99999999999999", "a@ 1"}) {
    options.once_per = none;
    for (const std::string& entry : child_environment(Environment{}, options, {7, false}))
      EXPECT_NE(variable_name(entry), kScheduledTimeVariable) << none;
  }
}

TEST(ChildEnvironment, PassesOnTheScheduledTimeOfThePod) {
  const Environment scheduled = {"CRONLATCH_SCHEDULED_TIME=2026-11-21T02:00:00Z"};
  EXPECT_EQ(child_environment(scheduled, held(), {7, false}).back(),
            "CRONLATCH_SCHEDULED_TIME=2026-11-21T02:00:00Z");

  Options with_identity = held();
  with_identity.once_per = "reports/nightly@1795226460";
  const Environment out = child_environment(scheduled, with_identity, {7, false});
  EXPECT_EQ(out.back(), "CRONLATCH_SCHEDULED_TIME=2026-11-21T02:01:00Z");
  EXPECT_EQ(std::count_if(out.begin(), out.end(),
                          [](const std::string& entry) {
                            return variable_name(entry) == kScheduledTimeVariable;
                          }),
            1);
}

}  // namespace
}  // namespace cronlatch
