// SPDX-License-Identifier: Apache-2.0
// The Prometheus text of the lock statistics, compared with a grammar of lines and with the metric
// table.
#include "metrics/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "metrics/metrics_table.h"

namespace cronlatch {
namespace {

using testing::HasSubstr;
using testing::Not;

LockView held_lock() {
  LockView view;
  view.lock = "reports/nightly";
  view.state = LockState::held;
  view.identity.job = "reports/nightly";
  view.fence = 7;
  view.now = {1'763'690'010'000'000};
  view.acquired = {1'763'690'000'123'456};
  view.expires = {1'763'690'120'000'000};
  view.jobs["reports/nightly"].values = {
      {"acquired", 5},      {"released", 3},         {"stolen", 1},
      {"skipped_held", 2},  {"hold_0", 1},           {"hold_3", 2},
      {"hold_13", 1},       {"hold_ms", 90'500'250}, {"last_success", 1'763'600'000'000'000},
      {"runs_succeeded", 3}};
  return view;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

// The format 0.0.4, written down independently: what each line may be, and that families are whole
// and announced once.
void check_format(const std::string& text) {
  static const std::regex kHead("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  static const std::regex kSample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)\{([a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*)\} ([0-9]+(\.[0-9]+)?))re");
  std::set<std::string> announced;
  std::set<std::string> series;
  std::string family;
  ASSERT_TRUE(text.empty() || text.back() == '\n');
  for (const std::string& line : lines_of(text)) {
    std::smatch m;
    if (std::regex_match(line, m, kHead)) {
      EXPECT_TRUE(announced.insert(m[1].str() + m[2].str()).second) << line;
      family = m[2].str();
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, m, kSample)) << line;
    EXPECT_TRUE(m[1].str() == family || m[1].str() == family + "_bucket" ||
                m[1].str() == family + "_sum" || m[1].str() == family + "_count")
        << line;
    EXPECT_TRUE(series.insert(m[1].str() + m[2].str()).second) << "twice: " << line;
  }
}

TEST(MetricsText, KeepsTheFormatForEveryKindOfLock) {
  // given
  std::vector<LockView> views = {held_lock(), LockView{}, held_lock()};
  views[1].lock = "never-used";
  views[2].lock = "shared";
  views[2].jobs["a/b"] = {};
  views[2].jobs["/b"] = {};
  views[2].jobs["b"] = {};
  views[2].jobs["we\"ird\\\n/x"] = {};

  // when
  const std::string text = lock_stats_metrics(views);

  // then
  check_format(text);
}

bool has_promtool() { return std::system("command -v promtool >/dev/null 2>&1") == 0; }

// The exit status of `promtool check metrics`.
int promtool_on(const std::string& text) {
  std::FILE* promtool = popen("promtool check metrics", "w");
  if (promtool == nullptr) return -1;
  std::fwrite(text.data(), 1, text.size(), promtool);
  return pclose(promtool);
}

TEST(MetricsText, PromtoolAgreesWhereItIsInstalled) {
  if (!has_promtool()) GTEST_SKIP() << "no promtool";
  EXPECT_EQ(
      promtool_on(lock_stats_metrics({held_lock()}) +
                  run_error_metrics({{render(SeriesLabels{"a/b", "c"}) + R"(,reason="auth")", 1}})),
      0);
}

TEST(MetricsText, JobsThatAreNoUtf8LeaveThePageReadable) {
  // given: what version 0.1.0 stored, and two jobs that look alike once they can be shown
  LockView view = held_lock();
  view.jobs["shop/\xff"].values = {{"acquired", 1}};
  view.jobs["shop/\xfe"].values = {{"acquired", 2}};
  view.identity.job = "shop/\xff";
  const RunErrors errors = {{"namespace=\"shop\",cronjob=\"\xff\",lock=\"a\",reason=\"auth\"", 3}};

  // when
  const MetricsFile read = parse_metrics_file(run_error_metrics(errors));
  const std::string text = lock_stats_metrics({view}) + run_error_metrics(read.errors);

  // then
  check_format(text);
  EXPECT_EQ(text, valid_utf8(text));
  EXPECT_THAT(text, HasSubstr("cronjob=\"\xEF\xBF\xBD\",lock=\"reports/nightly\"} 2"));
  EXPECT_EQ(read.errors.begin()->second, 3);
  if (has_promtool()) {
    EXPECT_EQ(promtool_on(text), 0);
    EXPECT_NE(promtool_on("# HELP x x\n# TYPE x gauge\nx{a=\"\xff\"} 1\n"), 0);
  }
}

TEST(MetricsText, SplitsTheJobIntoNamespaceAndCronJob) {
  EXPECT_EQ(render(SeriesLabels{"ns/name", "l"}), R"(namespace="ns",cronjob="name",lock="l")");
  EXPECT_EQ(render(SeriesLabels{"name", "l"}), R"(namespace="",cronjob="name",lock="l")");
  EXPECT_EQ(render(SeriesLabels{"", "l"}), R"(namespace="",cronjob="",lock="l")");
  EXPECT_EQ(render(SeriesLabels{"/name", "l"}), R"(namespace="",cronjob="/name",lock="l")");
  EXPECT_EQ(render(SeriesLabels{"a\"b\\c\nd", ""}), R"(namespace="",cronjob="a\"b\\c\nd",lock="")");
}

TEST(MetricsText, ShowsCountersGaugesAndTimes) {
  // given
  const std::string labels = R"({namespace="reports",cronjob="nightly",lock="reports/nightly")";

  // when
  const std::string text = lock_stats_metrics({held_lock()});

  // then
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_acquired_total" + labels + "} 5\n"));
  EXPECT_THAT(text,
              HasSubstr("cronlatch_lock_skipped_total" + labels + R"(,reason="held"} 2)" + "\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_runs_total" + labels + R"(,outcome="succeeded"} 3)"));
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_held" + labels + "} 1\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_acquired_timestamp_seconds" + labels +
                              "} 1763690000.123456\n"));
  EXPECT_THAT(text,
              HasSubstr("cronlatch_last_success_timestamp_seconds" + labels + "} 1763600000\n"));
  EXPECT_THAT(text, Not(HasSubstr("cronlatch_last_skip_timestamp_seconds{")));
}

// A revoked grant is closed in the counters, but its lease still excludes other runs.
TEST(MetricsText, CountsTheGrantsOfALockWithSlots) {
  // given
  LockView view = held_lock();
  view.slots = 5;
  const auto grant = [&](LockState state, const std::string& job, std::int64_t expires) {
    view.grants.push_back({state, {.job = job}, view.fence, 1, view.acquired, {expires}});
  };
  grant(LockState::held, "reports/nightly", 1'763'690'200'000'000);
  grant(LockState::held, "reports/nightly", 1'763'690'100'000'000);
  grant(LockState::expired, "reports/nightly", 1'763'690'000'000'000);
  grant(LockState::revoked, "reports/nightly", 1'763'690'300'000'000);
  grant(LockState::held, "reports/weekly", 1'763'690'300'000'000);
  view.jobs["reports/weekly"].values = {{"acquired", 1}};
  const std::string labels = R"({namespace="reports",cronjob="nightly",lock="reports/nightly"})";

  // when
  const std::string text = lock_stats_metrics({view});

  // then
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_held" + labels + " 3\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_open" + labels + " 3\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_slots" + labels + " 5\n"));
  EXPECT_THAT(text,
              HasSubstr("cronlatch_lock_expires_timestamp_seconds" + labels + " 1763690000\n"));
  EXPECT_THAT(text, HasSubstr(R"(cronjob="weekly",lock="reports/nightly"} 5)"));
  EXPECT_THAT(lock_stats_metrics({held_lock()}), Not(HasSubstr("cronlatch_lock_slots{")));
}

TEST(MetricsText, HistogramBucketsAreCumulativeAndEndWithTheCount) {
  // given
  const std::string labels = R"({namespace="reports",cronjob="nightly",lock="reports/nightly")";
  const std::string name = "cronlatch_lock_hold_duration_seconds";

  // when
  const std::string text = lock_stats_metrics({held_lock()});

  // then
  EXPECT_THAT(text, HasSubstr(name + "_bucket" + labels + R"(,le="1"} 1)"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket" + labels + R"(,le="15"} 1)"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket" + labels + R"(,le="30"} 3)"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket" + labels + R"(,le="86400"} 3)"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket" + labels + R"(,le="+Inf"} 4)"));
  EXPECT_THAT(text, HasSubstr(name + "_sum" + labels + "} 90500.25\n"));
  EXPECT_THAT(text, HasSubstr(name + "_count" + labels + "} 4\n"));
  EXPECT_THAT(text, HasSubstr(R"(cronlatch_lock_wait_duration_seconds_bucket)" + labels +
                              R"(,le="0.1"} 0)"));
}

TEST(MetricsText, PercentilesAreThoseOfAllRecordedRuns) {
  // given
  LockView view = held_lock();
  const std::string labels = R"({namespace="reports",cronjob="nightly",lock="reports/nightly")";
  const std::string name = "cronlatch_lock_hold_duration_percentile_seconds";

  // when
  view.jobs["reports/nightly"].values["hold_3"] = 3;
  view.jobs["reports/nightly"].values["wait_0"] = 10;
  const std::string text = lock_stats_metrics({view});

  // then: of 1, 3 and 1 runs up to 1 s, between 15 s and 30 s, and beyond a day
  EXPECT_THAT(text, HasSubstr(name + labels + R"(,percentile="50"} 22.5)" + "\n"));
  EXPECT_THAT(text, HasSubstr(name + labels + R"(,percentile="95"} 86400)" + "\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_lock_wait_duration_percentile_seconds" + labels +
                              R"(,percentile="50"} 0.05)" + "\n"));
  EXPECT_THAT(lock_stats_metrics({held_lock()}),
              Not(HasSubstr("cronlatch_lock_wait_duration_percentile_seconds{")));
}

TEST(MetricsText, TheHistogramsCanBeOmitted) {
  // given
  const LockView view = held_lock();
  const std::vector<LockStatsRow> rows = {{render(SeriesLabels{"reports/nightly", view.lock}),
                                           &view, &view.jobs.begin()->first,
                                           &view.jobs.begin()->second}};
  std::string text, full;

  // when
  append_lock_stats_metrics(text, rows, Histograms::omitted);
  append_lock_stats_metrics(full, rows, Histograms::written);

  // then
  EXPECT_THAT(text, Not(HasSubstr("cronlatch_lock_hold_duration_seconds")));
  EXPECT_EQ(lines_of(text).size() + 2 * 2 + 16 + 11, lines_of(full).size());
  check_format(text);
}

struct StateCase {
  LockState state;
  std::int64_t left_us;
  const char* held;
  const char* open;
};

TEST(MetricsText, HeldIsALivingLeaseAndOpenIsAnUnclosedGrant) {
  const StateCase cases[] = {
      {LockState::free, 1, "0", "0"},     {LockState::held, 1, "1", "1"},
      {LockState::expired, -1, "0", "1"}, {LockState::cooling, 1, "0", "0"},
      {LockState::revoked, 1, "1", "0"},  {LockState::revoked, -1, "0", "0"}};
  for (const StateCase& c : cases) {
    // given
    LockView view = held_lock();
    view.state = c.state;
    view.expires = view.now + Micros(c.left_us);

    // when
    const std::string text = lock_stats_metrics({view});

    // then
    const std::string labels = R"({namespace="reports",cronjob="nightly",lock="reports/nightly"} )";
    EXPECT_THAT(text, HasSubstr("cronlatch_lock_held" + labels + c.held));
    EXPECT_THAT(text, HasSubstr("cronlatch_lock_open" + labels + c.open));
  }
}

// flock(1) on the file of a lock, or the key of another program.
TEST(MetricsText, AHolderThatIsAnotherProgramIsNoOpenGrant) {
  LockView view = held_lock();
  view.identity.holder = "another program";
  view.fence = 0;
  const std::string labels = R"({namespace="reports",cronjob="nightly",lock="reports/nightly"} )";
  EXPECT_THAT(lock_stats_metrics({view}), HasSubstr("cronlatch_lock_open" + labels + "0"));

  view.grants = {{view.state, view.identity, 0, 0, {}, {}}};
  view.slots = 2;
  EXPECT_THAT(lock_stats_metrics({view}), HasSubstr("cronlatch_lock_open" + labels + "0"));
}

TEST(MetricsText, OnlyTheJobOfTheLastGrantHoldsASharedLock) {
  // given
  LockView view = held_lock();
  view.lock = "shared";
  view.jobs["reports/weekly"] = {};

  // when
  const std::string text = lock_stats_metrics({view});

  // then
  EXPECT_THAT(
      text,
      HasSubstr(R"(cronlatch_lock_held{namespace="reports",cronjob="nightly",lock="shared"} 1)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(cronlatch_lock_held{namespace="reports",cronjob="weekly",lock="shared"} 0)"));
}

TEST(MetricsText, TheNumberOfWaitingRunsIsExportedWhereTheStoreHasIt) {
  LockView view = held_lock();
  EXPECT_THAT(lock_stats_metrics({view}), Not(HasSubstr("cronlatch_lock_waiters{")));
  view.waiters = 3;
  EXPECT_THAT(
      lock_stats_metrics({view}),
      HasSubstr(
          R"(cronlatch_lock_waiters{namespace="reports",cronjob="nightly",lock="reports/nightly"} 3)"));
}

TEST(MetricsText, RunErrorsSurviveAMetricsFile) {
  // given
  const RunErrors errors = {
      {render(SeriesLabels{"a/b", "weird } \" lock"}) + R"(,reason="unreachable")", 3},
      {render(SeriesLabels{"a/b", "x"}) + R"(,reason="auth")", 1}};
  const std::string lock_stats = lock_stats_metrics({held_lock()});

  // when
  const MetricsFile read = parse_metrics_file(lock_stats + run_error_metrics(errors));

  // then
  EXPECT_EQ(read.errors, errors);
  EXPECT_EQ(read.lock_stats, lock_stats);
  check_format(read.lock_stats + run_error_metrics(read.errors));
}

TEST(MetricsText, AForeignMetricsFileIsReadWithoutTrouble) {
  const MetricsFile read =
      parse_metrics_file("junk\n\ncronlatch_run_errors_total{} x\ncronlatch_run_errors_total{a=");

  EXPECT_TRUE(read.errors.empty());
  EXPECT_EQ(read.lock_stats, "junk\n");
}

}  // namespace
}  // namespace cronlatch
