// SPDX-License-Identifier: Apache-2.0
// The text of the leader, from constructed lock statistics and from those of simulated runs.
#include "operator/metrics/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <random>
#include <sstream>

#include "exported.h"
#include "store/memory/memory_store.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::Exported;
using cronlatch::testing::HandClock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const kube::ObjectKey kNightly{"demo", "nightly"};
const std::string kOurs = R"({namespace="demo",cronjob="nightly",lock="demo/nightly"})";

LockView view_of(const std::string& lock, const std::string& job, std::int64_t acquired,
                 Fence fence = 1'763'690'000'000'000) {
  LockView view;
  view.lock = lock;
  view.identity.job = job;
  view.fence = fence;
  view.now = {1'763'690'100'000'000};
  view.acquired = {static_cast<std::int64_t>(fence)};
  view.jobs[job].values = {{"acquired", acquired}, {"released", acquired}};
  return view;
}

struct Scene {
  HandClock clock;
  Metrics metrics{"test"};
  bool leading = true;
  Exporter exporter;

  explicit Scene(ExporterOptions options = {})
      : exporter([this] { return leading; }, metrics, clock, options) {}
  std::string text() {
    std::string out;
    exporter.append_text(out);
    return out;
  }
  Exported exported() { return Exported(text()); }
  double own(const std::string& series) const { return Exported(metrics.text()).at(series); }
};

TEST(Exporter, ExportsLockStatisticsOnTheLeaderOnly) {
  Scene scene;
  scene.exporter.set_lock_stats(
      {.locks = {view_of("demo/nightly", "demo/nightly", 3)}, .error = ""});
  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});

  EXPECT_EQ(scene.exported().at("cronlatch_lock_acquired_total" + kOurs), 3);
  scene.leading = false;
  EXPECT_EQ(scene.text(), "");
}

TEST(Exporter, ExportsZeroForACronJobWithoutStatistics) {
  Scene scene;
  scene.exporter.set_lock_stats({});

  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});

  const Exported exported = scene.exported();
  EXPECT_EQ(exported.at("cronlatch_lock_acquired_total" + kOurs), 0);
  for (const char* reason : {"held", "done"})
    EXPECT_EQ(exported.at("cronlatch_lock_skipped_total" + kOurs.substr(0, kOurs.size() - 1) +
                          ",reason=\"" + reason + "\"}"),
              0);
  EXPECT_EQ(exported.at("cronlatch_lock_held" + kOurs), 0);
  EXPECT_THAT(exported.outlaws(), IsEmpty());
}

// A first 0 followed by 57 would be an increase of 57 that did not occur.
TEST(Exporter, ExportsNoZeroBeforeTheFirstRead) {
  Scene scene;
  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});
  scene.exporter.set_lock_stats({.locks = {}, .error = "away"});

  EXPECT_FALSE(scene.exported().has("cronlatch_lock_acquired_total" + kOurs));
}

TEST(Exporter, RemovesTheSeriesOfADeletedCronJob) {
  Scene scene;
  scene.exporter.set_lock_stats({.locks = {view_of("demo/nightly", "demo/nightly", 3),
                                           view_of("demo/weekly", "demo/weekly", 4)},
                                 .error = ""});
  scene.exporter.set_cronjob(kNightly, {"demo/nightly", Millis(60'000), WallTime{5'000'000}});
  scene.exporter.count_run_error("demo", "nightly", Reason::auth);
  ASSERT_THAT(scene.text(), HasSubstr("nightly"));

  scene.exporter.remove_cronjob(kNightly);

  EXPECT_THAT(scene.text(), Not(HasSubstr("nightly")));
  EXPECT_THAT(scene.text(), HasSubstr("weekly"));  // of another cluster, or of a host
  EXPECT_EQ(scene.own("cronlatch_ledger_left_out"), 0);

  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});
  EXPECT_EQ(scene.exported().at("cronlatch_lock_acquired_total" + kOurs), 3);
}

TEST(Exporter, LimitsTheNumberOfRememberedDeletedCronJobs) {
  Scene scene;
  scene.exporter.set_lock_stats(
      {.locks = {view_of("demo/nightly", "demo/nightly", 3)}, .error = ""});
  scene.exporter.remember_deleted({"demo/nightly", "demo/nightly"});
  ASSERT_THAT(scene.text(), Not(HasSubstr("nightly")));
  std::vector<std::string> many;
  for (int i = 0; i < 4'999; ++i) many.push_back("demo/" + std::to_string(i));

  scene.exporter.remember_deleted(many);
  EXPECT_THAT(scene.text(), Not(HasSubstr("nightly")));
  scene.exporter.remember_deleted({"demo/one-more"});
  EXPECT_THAT(scene.text(), HasSubstr("nightly"));
}

TEST(Exporter, AttributesALockToEachOfItsJobs) {
  Scene scene;
  LockView shared = view_of("demo/shared", "demo/a", 2);
  shared.state = LockState::held;
  shared.jobs["demo/a"].values["released"] = 1;
  shared.jobs["demo/b"].values = {{"skipped_held", 7}};
  scene.exporter.set_lock_stats({.locks = {shared}, .error = ""});
  for (const char* name : {"a", "b", "c"})
    scene.exporter.set_cronjob({"demo", name}, {"demo/shared"});

  const Exported exported = scene.exported();

  const auto labels = [](const std::string& cronjob, const std::string& more = "") {
    return R"({namespace="demo",cronjob=")" + cronjob + R"(",lock="demo/shared")" + more + "}";
  };
  EXPECT_EQ(exported.at("cronlatch_lock_acquired_total" + labels("a")), 2);
  EXPECT_EQ(exported.at("cronlatch_lock_held" + labels("a")), 1);
  EXPECT_EQ(exported.at("cronlatch_lock_skipped_total" + labels("b", ",reason=\"held\"")), 7);
  EXPECT_EQ(exported.at("cronlatch_lock_held" + labels("b")), 0);
  EXPECT_EQ(exported.at("cronlatch_lock_acquired_total" + labels("c")), 0);
  EXPECT_THAT(exported.outlaws(), IsEmpty());
  EXPECT_THAT(exported.twice(), IsEmpty());
}

TEST(Exporter, CountsALockWhoseCountersRestarted) {
  Scene scene;
  const std::string resets = "cronlatch_store_resets_total";
  scene.exporter.set_lock_stats({.locks = {view_of("a/b", "a/b", 9, 100)}, .error = ""});
  EXPECT_EQ(scene.own(resets), 0);

  scene.exporter.set_lock_stats({.locks = {}, .error = ""});
  const std::string series =
      R"(cronlatch_lock_acquired_total{namespace="a",cronjob="b",lock="a/b"})";
  EXPECT_EQ(scene.exported().at(series), 9);
  scene.exporter.set_lock_stats({.locks = {view_of("a/b", "a/b", 1, 200)}, .error = ""});

  EXPECT_EQ(scene.exported().at(series), 1);
  EXPECT_EQ(scene.own(resets), 1);
}

TEST(Exporter, CountsResetsOnTheLeaderOnly) {
  Scene scene;
  scene.leading = false;
  scene.exporter.set_lock_stats({.locks = {view_of("a/b", "a/b", 9, 100)}, .error = ""});
  scene.exporter.set_lock_stats({.locks = {view_of("a/b", "a/b", 1, 200)}, .error = ""});

  EXPECT_EQ(scene.own("cronlatch_store_resets_total"), 0);
}

TEST(Exporter, KeepsTheLastReadWhileTheStoreIsUnavailable) {
  Scene scene;
  scene.exporter.set_lock_stats({.locks = {view_of("a/b", "a/b", 9)}, .error = ""});
  const WallTime read = scene.exporter.status().read;
  scene.clock.pass(Seconds(60));

  scene.exporter.set_lock_stats({.locks = {}, .error = "no answer"});

  EXPECT_THAT(scene.text(), HasSubstr(R"(lock="a/b"} 9)"));
  EXPECT_FALSE(scene.exporter.status().up);
  EXPECT_EQ(scene.exporter.status().error, "no answer");
  EXPECT_EQ(scene.exporter.status().read, read);
}

TEST(Exporter, CountsRunErrorsForTheCronJobAndItsLock) {
  Scene scene;
  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});
  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  scene.exporter.count_run_error("demo", "", Reason::auth);

  const Exported exported = scene.exported();

  EXPECT_EQ(exported.at("cronlatch_run_errors_total" + kOurs.substr(0, kOurs.size() - 1) +
                        R"(,reason="tls"})"),
            2);
  EXPECT_EQ(exported.at(
                R"(cronlatch_run_errors_total{namespace="demo",cronjob="",lock="",reason="auth"})"),
            1);
}

// The alert on a new series counts its first value as an increase.
TEST(Exporter, AnErrorKeepsTheLockThatItWasCountedFor) {
  Scene scene;
  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});
  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  scene.exporter.set_cronjob(kNightly, {"demo/shared"});
  const std::string counted =
      R"(cronlatch_run_errors_total{namespace="demo",cronjob="nightly",lock=")";

  EXPECT_EQ(scene.exported().at(counted + R"(demo/nightly",reason="tls"})"), 1);
  EXPECT_FALSE(scene.exported().has(counted + R"(demo/shared",reason="tls"})"));

  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  EXPECT_EQ(scene.exported().at(counted + R"(demo/nightly",reason="tls"})"), 1);
  EXPECT_EQ(scene.exported().at(counted + R"(demo/shared",reason="tls"})"), 1);
}

TEST(Exporter, ASeriesOfErrorsIsExportedInALaterTermAfterItsNextError) {
  Scene scene;
  const std::string counted =
      R"(cronlatch_run_errors_total{namespace="demo",cronjob="nightly",lock="",reason="tls"})";
  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  ASSERT_EQ(scene.exported().at(counted), 1);

  scene.exporter.forget_cronjobs();  // another replica leads, then this one again
  EXPECT_FALSE(scene.exported().has(counted));

  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  scene.exporter.forget_cronjobs();
  EXPECT_EQ(scene.exported().at(counted), 2) << "more than was exported in the first term";
}

TEST(Exporter, CountsNoErrorOfACronJobThatWasDeletedInAnotherTerm) {
  Scene scene;
  scene.exporter.count_run_error("demo", "nightly", Reason::tls);
  ASSERT_EQ(scene.exported().labels_of("cronlatch_run_errors_total").size(), 1U);

  scene.exporter.forget_cronjobs();
  scene.exporter.remember_deleted({"demo/nightly"});
  scene.exporter.count_run_error("demo", "nightly", Reason::tls);  // of its last run

  EXPECT_THAT(scene.exported().labels_of("cronlatch_run_errors_total"), IsEmpty());
}

GatedCronJob every_hour(const std::string& lock) {
  GatedCronJob facts;
  facts.lock = lock;
  facts.created = {1'763'690'000'000'000};  // 21 November 2025, 01:53:20 UTC
  facts.schedule = "0 * * * *";
  return facts;
}

TEST(Exporter, ExportsDeadlineAndCreationTimeOfACronJob) {
  Scene scene;
  scene.exporter.set_lock_stats({});
  scene.exporter.set_cronjob(
      kNightly, {"demo/nightly", Millis(93'600'000), WallTime{7'000'000}, "0 2 * * *"});
  scene.exporter.set_cronjob({"demo", "free"}, {"demo/free", Millis(0), WallTime{8'000'000}});

  const Exported exported = scene.exported();

  EXPECT_EQ(exported.at("cronlatch_success_deadline_seconds" + kOurs), 93'600);
  EXPECT_EQ(exported.at("cronlatch_cronjob_created_timestamp_seconds" + kOurs), 7);
  EXPECT_EQ(exported.labels_of("cronlatch_success_deadline_seconds").size(), 1U);
}

TEST(Exporter, DerivesTheDeadlineFromScheduleLastSuccessAndDurations) {
  Scene scene;
  scene.exporter.set_cronjob(kNightly, every_hour("demo/nightly"));
  scene.exporter.set_lock_stats({});
  const std::string deadline = "cronlatch_success_deadline_seconds" + kOurs;
  // It never succeeded: from the creation until 03:00:00.
  EXPECT_EQ(scene.exported().at(deadline), 400 + 3'600);

  LockView view = view_of("demo/nightly", "demo/nightly", 3);
  view.jobs["demo/nightly"].values["last_success"] = 1'763'690'400'500'000;  // 02:00:00.5
  view.jobs["demo/nightly"].values["hold_3"] = 100;                          // 15 s to 30 s
  scene.exporter.set_lock_stats({.locks = {view}, .error = ""});
  // Until 04:00:00, the 95th percentile of the durations, rounded up.
  EXPECT_EQ(scene.exported().at(deadline), 7'200 + 29);
}

// After a restart of the operator, every CronJob would be overdue while the store is unavailable.
TEST(Exporter, ExportsNoDeadlineBeforeTheFirstRead) {
  Scene scene;
  scene.exporter.set_cronjob(kNightly, every_hour("demo/nightly"));
  scene.exporter.set_lock_stats({.locks = {}, .error = "away"});

  EXPECT_THAT(scene.text(), Not(HasSubstr("cronlatch_success_deadline_seconds{")));
  EXPECT_THAT(scene.text(), Not(HasSubstr("cronlatch_cronjob_created_timestamp_seconds{")));
}

TEST(Exporter, CountsTheDeadlineFromAChangeOfTheScheduleAndFromAResumption) {
  Scene scene;  // the clock: 01:53:21, a second after the creation
  scene.exporter.set_lock_stats({});
  const std::string deadline = "cronlatch_success_deadline_seconds" + kOurs;
  GatedCronJob facts = every_hour("demo/nightly");
  scene.exporter.set_cronjob(kNightly, facts);
  scene.clock.pass(Seconds(10 * 3'600));

  // No change: what the controller writes into the status.
  scene.exporter.set_cronjob(kNightly, facts);
  EXPECT_EQ(scene.exported().at(deadline), 400 + 3'600);
  // At 11:53:21 another schedule: until 12:20.
  facts.schedule = "*/20 * * * *";
  scene.exporter.set_cronjob(kNightly, facts);
  EXPECT_EQ(scene.exported().at(deadline), 36'000 + 400 + 1'200);
  // A change of something else keeps that.
  facts.alert_after = Millis(0);
  facts.lock = "demo/nightly";
  facts.resumed = {1};
  scene.clock.pass(Seconds(3'600));
  scene.exporter.set_cronjob(kNightly, facts);
  EXPECT_EQ(scene.exported().at(deadline), 36'000 + 400 + 1'200);

  GatedCronJob suspended = facts;
  suspended.schedule = "";
  scene.exporter.set_cronjob(kNightly, suspended);
  EXPECT_FALSE(scene.exported().has(deadline));
  // At 13:53:21 it is resumed: until 14:20.
  scene.clock.pass(Seconds(3'600));
  scene.exporter.set_cronjob(kNightly, facts);
  EXPECT_EQ(scene.exported().at(deadline), 43'200 + 400 + 1'200);
}

// `kubectl annotate` moves the time of all annotations that it wrote.
TEST(Exporter, AChangeOfAnotherAnnotationDoesNotRestartTheDeadline) {
  Scene scene;
  scene.exporter.set_lock_stats({});
  const std::string deadline = "cronlatch_success_deadline_seconds" + kOurs;
  GatedCronJob facts = every_hour("demo/nightly");
  facts.gated = {facts.created.us + 3'600'000'000};  // 02:53:20: until 04:00
  scene.exporter.set_cronjob(kNightly, facts);
  ASSERT_EQ(scene.exported().at(deadline), 2 * 3'600 + 400);

  facts.gated.us += 36'000'000'000;
  scene.exporter.set_cronjob(kNightly, facts);
  EXPECT_EQ(scene.exported().at(deadline), 2 * 3'600 + 400);

  facts.lock = "demo/other";  // requested since then
  scene.exporter.set_cronjob(kNightly, facts);
  EXPECT_EQ(
      scene.exported().at(
          R"(cronlatch_success_deadline_seconds{namespace="demo",cronjob="nightly",lock="demo/other"})"),
      12 * 3'600 + 400);
}

// With the largest number of series: every counter has a value, and the lock is held.
LockView busiest_view(const std::string& lock, std::uint32_t slots) {
  LockView view = view_of(lock, lock, 9);
  view.state = LockState::held;
  view.expires = view.now + Micros(60'000'000);
  view.waiters = 2;
  view.slots = slots;
  if (slots > 1)
    view.grants = {{view.state, view.identity, view.fence, 1, view.acquired, view.expires}};
  for (const std::string_view counter : kCounterNames)
    view.jobs[lock].values.emplace(std::string(counter), 9);
  for (const char* histogram : {"hold_", "wait_"})
    for (int i = 0; i < 9; ++i) view.jobs[lock].values[histogram + std::to_string(i)] = 9;
  return view;
}

// It is a CronJob of this cluster.
Exported busiest(Histograms histograms, std::uint32_t slots) {
  ExporterOptions options;
  options.histograms = histograms;
  Scene scene(options);
  scene.exporter.set_lock_stats({.locks = {busiest_view("demo/nightly", slots)}, .error = ""});
  scene.exporter.set_cronjob(kNightly, every_hour("demo/nightly"));
  return scene.exported();
}

TEST(Exporter, ALockHasAtMostThirtySeries) {
  EXPECT_EQ(busiest(Histograms::omitted, 1).size(), 30U);
  EXPECT_EQ(busiest(Histograms::omitted, 3).size(), 31U);
  EXPECT_EQ(busiest(Histograms::written, 1).size(), 30U + 16 + 11);
}

TEST(Exporter, TenThousandLocksHaveAtMost300000SeriesAndNoneIsLeftOut) {
  constexpr int kLocks = 10'000;
  Scene scene;
  std::vector<LockView> locks;
  for (int i = 0; i < kLocks; ++i) {
    const std::string name = "report-" + std::to_string(i);
    locks.push_back(busiest_view("demo/" + name, 1));
    scene.exporter.set_cronjob({"demo", name}, every_hour("demo/" + name));
  }
  scene.exporter.set_lock_stats({.locks = std::move(locks), .error = ""});

  std::size_t series = 0, held = 0;
  std::istringstream text(scene.text());
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with('#')) ++series;
    if (line.starts_with("cronlatch_lock_held{")) ++held;
  }
  EXPECT_LE(series, 300'000U);
  EXPECT_EQ(held, static_cast<std::size_t>(kLocks));
  EXPECT_EQ(scene.own("cronlatch_ledger_left_out"), 0);
}

TEST(Exporter, ExportsTheTimeOfCreationUntilTheFirstSuccess) {
  Scene scene;
  const std::string created = "cronlatch_cronjob_created_timestamp_seconds" + kOurs;
  scene.exporter.set_cronjob(kNightly, every_hour("demo/nightly"));
  LockView view = view_of("demo/nightly", "demo/nightly", 3);
  scene.exporter.set_lock_stats({.locks = {view}, .error = ""});
  EXPECT_EQ(scene.exported().at(created), 1'763'690'000);

  view.jobs["demo/nightly"].values["last_success"] = 1'763'690'400'000'000;
  scene.exporter.set_lock_stats({.locks = {view}, .error = ""});
  EXPECT_FALSE(scene.exported().has(created));
  EXPECT_EQ(scene.exported().at("cronlatch_last_success_timestamp_seconds" + kOurs), 1'763'690'400);
}

TEST(Exporter, LimitsUnknownPairsAndCountsTheRest) {
  Scene scene({.unknown_pairs = 10, .per_namespace = 4});
  std::vector<LockView> locks;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "evil/" + std::to_string(100 + i);
    locks.push_back(view_of(name, "", 1));
  }
  for (int i = 0; i < 3; ++i)
    locks.push_back(view_of("good/" + std::to_string(i), "good/" + std::to_string(i), 1));
  scene.exporter.set_lock_stats({.locks = locks, .error = ""});
  scene.exporter.set_cronjob(kNightly, {"demo/nightly"});

  const Exported exported = scene.exported();

  EXPECT_EQ(exported.labels_of("cronlatch_lock_acquired_total").size(), 4U + 3U + 1U);
  EXPECT_EQ(scene.own("cronlatch_ledger_left_out"), 46);
}

TEST(Exporter, KeepsPreviouslyExportedPairs) {
  Scene scene({.unknown_pairs = 2, .per_namespace = 2});
  const LockView old = view_of("z/old", "z/old", 1);
  scene.exporter.set_lock_stats({.locks = {old}, .error = ""});
  ASSERT_THAT(scene.text(), HasSubstr("z/old"));

  scene.exporter.set_lock_stats(
      {.locks = {view_of("a/1", "a/1", 1), view_of("b/2", "b/2", 1), view_of("c/3", "c/3", 1), old},
       .error = ""});

  EXPECT_THAT(scene.text(), HasSubstr("z/old"));
  EXPECT_EQ(scene.own("cronlatch_ledger_left_out"), 2);
}

TEST(Exporter, OmitsNamesThatAreNoValidLabels) {
  Scene scene;
  scene.exporter.set_lock_stats(
      {.locks = {view_of("a/bad", "a/\xff", 1), view_of("a/long", "a/" + std::string(600, 'x'), 1),
                 view_of("a/line", "a/b\nc", 1), view_of("a/ok", "a/ok", 1)},
       .error = ""});

  EXPECT_EQ(scene.exported().labels_of("cronlatch_lock_acquired_total").size(), 1U);
  EXPECT_EQ(scene.own("cronlatch_ledger_left_out"), 3);
}

// Random runs, flushes and lags: exported counters always add up and decrease only at a reset.
TEST(Exporter, CountersAddUpAfterLagsAndFlushes) {
  Scene scene;
  std::int64_t server_us = 1'763'690'000'000'000;
  MemoryServer server([&] { return ServerTime{server_us}; });
  std::mt19937 dice(7);
  std::deque<std::vector<LockView>> past;
  std::map<std::string, double> last;
  double resets = 0;
  for (int step = 0; step < 250; ++step) {
    server_us += 40'000'000;
    const std::string job = "demo/" + std::to_string(dice() % 3);
    const std::string owner(32, static_cast<char>('a' + dice() % 3));
    const auto attempt = static_cast<std::uint32_t>(step + 1);
    const std::string lock = "demo/lock" + std::to_string(dice() % 2);
    const auto reply = server.execute(Acquire{.lock = lock,
                                              .claim = {owner, attempt},
                                              .identity = {.holder = "h", .job = job},
                                              .ttl = Millis(60'000),
                                              .once_ttl = Millis(1'000)},
                                      {server_us + 1'000'000});
    if (std::holds_alternative<Granted>(reply) && dice() % 3 != 0)
      server.execute(Release{.lock = lock,
                             .claim = {owner, attempt},
                             .identity = {.holder = "h", .job = job},
                             .fence = std::get<Granted>(reply).fence,
                             .verdict = RunVerdict::succeeded},
                     {server_us + 1'000'000});
    if (dice() % 40 == 0) server.revoke(lock);
    if (dice() % 60 == 0) server.forget();
    past.push_back(server.list());
    if (past.size() > 5) past.pop_front();
    const bool lags = dice() % 5 == 0;
    scene.exporter.set_lock_stats({.locks = lags ? past.front() : past.back(), .error = ""});

    const Exported exported = scene.exported();
    ASSERT_THAT(exported.outlaws(), IsEmpty()) << "step " << step;
    const double resets_now = scene.own("cronlatch_store_resets_total");
    if (resets_now != resets) last.clear();  // a job may be gone until it comes again
    for (const std::string& labels : exported.labels_of("cronlatch_lock_acquired_total")) {
      const double now = exported.at("cronlatch_lock_acquired_total" + labels);
      EXPECT_GE(now, last[labels]) << "step " << step << ' ' << labels;
      last[labels] = now;
    }
    resets = resets_now;
  }
  EXPECT_GT(resets, 0);
}

TEST(Exporter, PassesPromtoolWhereInstalled) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "no promtool";
  Scene scene;
  scene.exporter.set_lock_stats({.locks = {view_of("a/b", "a/b", 9)}, .error = ""});
  scene.exporter.set_cronjob(kNightly, every_hour("demo/nightly"));
  scene.metrics.store_command("list", Micros(1'500));
  scene.metrics.add_source([&](std::string& out) { scene.exporter.append_text(out); });
  const std::string text = scene.metrics.text();

  std::FILE* promtool = popen("promtool check metrics", "w");
  ASSERT_NE(promtool, nullptr);
  std::fwrite(text.data(), 1, text.size(), promtool);

  EXPECT_EQ(pclose(promtool), 0) << text;
}

}  // namespace
}  // namespace cronlatch::op
