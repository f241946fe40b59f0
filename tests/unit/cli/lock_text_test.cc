// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of lock statistics.
#include "cli/lock_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <string>

namespace cronlatch {
namespace {

using testing::HasSubstr;
using testing::Not;

LockView held_lock() {
  LockView view;
  view.lock = "reports/nightly";
  view.state = LockState::held;
  view.identity = {.holder = "web-1:12:boot", .job = "reports/nightly", .group = "", .once = ""};
  view.fence = 1'763'690'000'123'456;
  view.attempt = 2;
  view.now = {1'763'690'060'000'000};
  view.acquired = {1'763'690'000'123'456};
  view.expires = {1'763'690'120'000'000};
  view.ttl = Millis(120'000);
  view.jobs["reports/nightly"].values = {{"acquired", 5}, {"skipped_held", 2}, {"skipped_done", 1}};
  view.jobs["reports/weekly"].values = {
      {"acquired", 1}, {"stolen", 1}, {"last_success", 1'763'600'000'000'000}};
  return view;
}

TEST(Table, PadsColumnsButNotTheLast) {
  EXPECT_EQ(render_table({{"A", "BB", "C"}, {"aaa", "", "c"}}), "A    BB  C\naaa  -   c\n");
}

TEST(Table, PadsByCharactersAndShowsNoControlCharacters) {
  EXPECT_EQ(render_table({{"\xC3\xA9", "x"}, {"ab", "y"}}), "\xC3\xA9   x\nab  y\n");
  EXPECT_EQ(render_table({{"a\x1b[2Jb"}}).find('\x1b'), std::string::npos);
}

TEST(LockText, ShortensTextsThatNoOptionAllows) {
  LockView view = held_lock();
  const std::string huge = "\x1b[2J\xff" + std::string(4'000, 'x');
  view.identity = {huge, huge, huge, huge};
  view.jobs[huge].values = {{"acquired", 1}};
  for (const std::string& text : {locks_table({view}), lock_page(view)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_THAT(text, HasSubstr("..."));
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      EXPECT_LT(end - from, 600u);
      from = end + 1;
    }
  }
}

LockView lock_with_slots() {
  LockView view = held_lock();
  view.slots = 3;
  GrantView first{LockState::expired, view.identity, view.fence - 5, 1, view.acquired, {}};
  first.identity.holder = "web-2:7:boot";
  view.grants = {first,
                 {LockState::held, view.identity, view.fence, 2, view.acquired, view.expires}};
  return view;
}

TEST(LockText, LsShowsHowManyRunsHoldALockWithSlots) {
  LockView view = lock_with_slots();
  EXPECT_THAT(locks_table({view}), HasSubstr("held 1 of 3  web-1:12:boot  "));
  view.grants[0].state = LockState::held;
  EXPECT_THAT(locks_table({view}), HasSubstr("held 2 of 3  web-1:12:boot and 1 more  "));
}

TEST(LockText, ShowListsTheGrantsOfALockWithSlots) {
  const std::string page = lock_page(lock_with_slots());
  EXPECT_THAT(page, HasSubstr("\nstate    held 1 of 3\n"));
  EXPECT_THAT(page, HasSubstr("\ngrants\n  STATE"));
  EXPECT_THAT(page, HasSubstr("  expired  web-2:7:boot   reports/nightly  "));
  EXPECT_THAT(page, HasSubstr("  held     web-1:12:boot  reports/nightly  "));
  EXPECT_THAT(lock_page(held_lock()), Not(HasSubstr("grants")));
}

TEST(LockText, JsonHasTheGrantsOfALockWithSlots) {
  const YAML::Node json = YAML::Load(lock_json(lock_with_slots()));
  EXPECT_EQ(json["slots"].as<int>(), 3);
  EXPECT_EQ(json["state"].as<std::string>(), "held");
  ASSERT_EQ(json["grants"].size(), 2u);
  EXPECT_EQ(json["grants"][0]["state"].as<std::string>(), "expired");
  EXPECT_EQ(json["grants"][0]["holder"].as<std::string>(), "web-2:7:boot");
  EXPECT_EQ(json["grants"][1]["fence"].as<std::string>(), "1763690000123456");
  const YAML::Node one = YAML::Load(lock_json(held_lock()));
  EXPECT_EQ(one["slots"].as<int>(), 1);
  EXPECT_EQ(one["grants"].size(), 0u);
}

TEST(LockText, JsonHasEachCounterOfAJobOnce) {
  LockView view = held_lock();
  view.jobs.clear();
  for (const std::string_view name : kCounterNames) view.jobs["j"].values[std::string(name)] = 1;
  const std::string json = lock_json(view);
  const std::string of_job = json.substr(json.find("\"jobs\""));
  for (const std::string_view name : kCounterNames) {
    const std::string key = '"' + std::string(name) + "\":";
    ASSERT_NE(of_job.find(key), std::string::npos) << of_job;
    EXPECT_EQ(of_job.find(key), of_job.rfind(key)) << of_job;
  }
}

TEST(LockText, LsHasOneRowForEachLock) {
  // given
  LockView free;
  free.lock = "x";
  free.identity.holder = "an earlier run";
  free.waiters = 12;

  // when
  const std::string table = locks_table({held_lock(), free});

  // then
  EXPECT_EQ(table,
            "LOCK             STATE  HOLDER         SINCE                 EXPIRES               "
            "FENCE             ACQUIRED  SKIPPED  STOLEN  LOST  WAITING\n"
            "reports/nightly  held   web-1:12:boot  2025-11-21T01:53:20Z  2025-11-21T01:55:20Z  "
            "1763690000123456  6         3        1       0     -\n"
            "x                free   -              -                     -                     "
            "-                 0         0        0       0     12\n");
}

TEST(LockText, LsOfNothingIsTheHeader) {
  const std::string table = locks_table({});

  EXPECT_THAT(table, HasSubstr("LOCK"));
  EXPECT_EQ(table.find('\n'), table.size() - 1);
}

TEST(LockText, ShowContainsEveryCounterOfEveryJob) {
  const std::string page = lock_page(held_lock());

  EXPECT_THAT(page, HasSubstr("holder   web-1:12:boot\n"));
  EXPECT_THAT(page, HasSubstr("ttl      2m\n"));
  EXPECT_THAT(page, HasSubstr("counters of job reports/weekly\n"));
  for (const std::string_view counter : kCounterNames)
    EXPECT_THAT(page, HasSubstr("  " + std::string(counter) + ' '));
}

TEST(LockText, ShowsTheNumberOfWaitingRunsWhereTheStoreHasIt) {
  LockView view = held_lock();
  EXPECT_THAT(lock_page(view), Not(HasSubstr("runs waiting")));
  EXPECT_TRUE(YAML::Load(lock_json(view))["waiters"].IsNull());
  view.waiters = 2;
  EXPECT_THAT(lock_page(view), HasSubstr("runs waiting  2\n"));
  EXPECT_EQ(YAML::Load(lock_json(view))["waiters"].as<int>(), 2);
}

TEST(LockText, ShowCallsTheHolderOfAFreeLockTheLast) {
  LockView view = held_lock();
  view.state = LockState::free;

  const std::string page = lock_page(view);

  EXPECT_THAT(page, HasSubstr("last holder"));
  EXPECT_THAT(page, Not(HasSubstr("expires")));
}

// JSON is a subset of YAML.
TEST(LockText, JsonHasStableKeys) {
  // when
  const YAML::Node json = YAML::Load(lock_json(held_lock()));

  // then
  EXPECT_EQ(json["lock"].as<std::string>(), "reports/nightly");
  EXPECT_EQ(json["state"].as<std::string>(), "held");
  EXPECT_EQ(json["holder"].as<std::string>(), "web-1:12:boot");
  EXPECT_EQ(json["job"].as<std::string>(), "reports/nightly");
  EXPECT_EQ(json["fence"].as<std::string>(), "1763690000123456");
  EXPECT_EQ(json["attempt"].as<int>(), 2);
  EXPECT_EQ(json["since"].as<std::string>(), "2025-11-21T01:53:20Z");
  EXPECT_EQ(json["expires"].as<std::string>(), "2025-11-21T01:55:20Z");
  EXPECT_EQ(json["ttl_ms"].as<int>(), 120'000);
  EXPECT_TRUE(json["pid"].IsNull());
  EXPECT_EQ(json["counters"]["acquired"].as<int>(), 6);
  EXPECT_EQ(json["counters"]["skipped_held"].as<int>(), 2);
  ASSERT_EQ(json["jobs"].size(), 2U);
  EXPECT_EQ(json["jobs"][1]["job"].as<std::string>(), "reports/weekly");
  EXPECT_EQ(json["jobs"][1]["counters"]["stolen"].as<int>(), 1);
  EXPECT_EQ(json["jobs"][1]["counters"]["last_success"].as<std::string>(), "2025-11-20T00:53:20Z");
  EXPECT_TRUE(json["jobs"][0]["counters"]["last_success"].IsNull());
}

TEST(LockText, JsonHasTheHistogramsOfEachJob) {
  LockView view = held_lock();
  view.jobs["reports/weekly"].values["hold_3"] = 7;
  view.jobs["reports/weekly"].values["hold_ms"] = 140'000;
  view.jobs["reports/weekly"].values["wait_0"] = 2;

  const YAML::Node jobs = YAML::Load(lock_json(view))["jobs"];

  EXPECT_EQ(jobs[1]["counters"]["hold_3"].as<int>(), 7);
  EXPECT_EQ(jobs[1]["counters"]["hold_ms"].as<int>(), 140'000);
  EXPECT_EQ(jobs[1]["counters"]["wait_0"].as<int>(), 2);
  EXPECT_FALSE(jobs[0]["counters"]["hold_3"].IsDefined());
}

TEST(LockText, JsonOfAFreeLockHasNoHolder) {
  LockView view = held_lock();
  view.state = LockState::free;

  const YAML::Node json = YAML::Load(lock_json(view));

  for (const char* key : {"holder", "job", "since", "expires"}) EXPECT_TRUE(json[key].IsNull());
  EXPECT_EQ(json["fence"].as<std::string>(), "1763690000123456");
}

TEST(LockText, JsonStaysValidWithControlCharactersInTheHolder) {
  LockView view = held_lock();
  view.identity.holder = "a\"b\\c\nd\x01\xff";

  const std::string json = lock_json(view);

  EXPECT_THAT(json, HasSubstr(R"("holder":"a\"b\\c\nd\u0001)"));
}

}  // namespace
}  // namespace cronlatch
