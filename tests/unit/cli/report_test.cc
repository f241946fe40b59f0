// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind: the outcome file, the last log line, the metrics file.
#include "cli/report.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cli/metrics_file.h"
#include "cli/run_spec.h"
#include "unit/cli/fixed_clock.h"

namespace cronlatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Lock statistics of one lock, or a store that does not answer.
class FakeLockStats : public LockStats {
 public:
  std::optional<LockView> view;
  Error error{Code::unreachable, "down"};
  Result<std::vector<LockView>> list(TimePoint, std::size_t) override {
    return std::vector<LockView>{};
  }
  Result<LockView> show(const std::string&, TimePoint) override {
    if (view) return *view;
    return error;
  }
  Result<Revoked> revoke(const std::string&, TimePoint) override { return Revoked{}; }
};

class Report : public testing::Test {
 protected:
  Report() {
    std::string pattern = testing::TempDir() + "report.XXXXXX";
    dir_ = mkdtemp(pattern.data());
    options_.lock = "a/b";
    options_.job = "a/b";
    lock_stats_.view = LockView{};
    lock_stats_.view->lock = "a/b";
    lock_stats_.view->jobs["a/b"].values["acquired"] = 7;
  }
  ~Report() override { std::filesystem::remove_all(dir_); }

  int report_of(Kind kind, Reason reason, LogFormat format = LogFormat::text) {
    Outcome outcome;
    outcome.kind = kind;
    outcome.reason = reason;
    outcome.lock = "a/b";
    if (kind == Kind::ran) outcome.child_code = 3;
    const Log log(format, Level::info, clock_,
                  [this](std::string_view line) { lines_.emplace_back(line); });
    return report(outcome, options_, &lock_stats_, log, clock_);
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return (std::stringstream() << file.rdbuf()).str();
  }

  FixedClock clock_;
  std::string dir_;
  Options options_;
  FakeLockStats lock_stats_;
  std::vector<std::string> lines_;
};

TEST_F(Report, WritesTheOutcomeIntoTheFileThatIsThere) {
  // given
  options_.outcome_file = dir_ + "/log";
  std::ofstream(options_.outcome_file) << std::string(5'000, 'x');
  struct stat before {};
  stat(options_.outcome_file.c_str(), &before);

  // when
  const int code = report_of(Kind::ran, Reason::none);

  // then
  struct stat after {};
  stat(options_.outcome_file.c_str(), &after);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(after.st_ino, before.st_ino) << "a bind-mounted file cannot be replaced";
  EXPECT_THAT(text_of(options_.outcome_file), testing::StartsWith(R"({"v":1,"outcome":"ran")"));
  EXPECT_THAT(text_of(options_.outcome_file), testing::EndsWith("}\n"));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(Report, AFileThatCannotBeWrittenIsAWarningAndTheExitCodeStays) {
  options_.outcome_file = dir_ + "/no/such";
  options_.metrics_file = dir_ + "/no/such.prom";

  const int code = report_of(Kind::ran, Reason::none);

  EXPECT_EQ(code, 3);
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_THAT(lines_[0], HasSubstr("metrics file"));
  EXPECT_THAT(lines_[1], HasSubstr("outcome file"));
  for (const std::string& line : lines_)
    EXPECT_THAT(line, HasSubstr("(create its directory, or name another file)"));
}

TEST_F(Report, StatisticsThatTheUserMayNotReadAreAWarning) {
  // given
  options_.metrics_file = dir_ + "/job.prom";
  lock_stats_.view.reset();
  lock_stats_.error = {Code::acl, "no permissions to run the 'hgetall' command"};

  // when
  const int code = report_of(Kind::ran, Reason::none);

  // then
  EXPECT_EQ(code, 3);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("the metrics lack the lock statistics: no perm")));

  // when: the log contains the reason already
  lines_.clear();
  report_of(Kind::refused, Reason::acl);
  lock_stats_.error = {Code::unreachable, "down"};
  report_of(Kind::ran, Reason::none);

  // then
  EXPECT_THAT(lines_, IsEmpty());
}

// Its reader exists and does not read.
TEST_F(Report, AnOutcomeFileThatIsAFullFifoIsAWarningAndTheRunEnds) {
  // given
  options_.outcome_file = dir_ + "/fifo";
  ASSERT_EQ(mkfifo(options_.outcome_file.c_str(), 0600), 0);
  const int reader = open(options_.outcome_file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int writer = open(options_.outcome_file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  while (write(writer, "x", 1) == 1) {
  }

  // when
  const int code = report_of(Kind::ran, Reason::none);

  // then
  EXPECT_EQ(code, 3);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], HasSubstr("accepted no data within 1s"));
  close(reader);
  close(writer);
}

TEST_F(Report, AnOutcomeFileThatIsAFifoWithoutAReaderIsAWarning) {
  options_.outcome_file = dir_ + "/fifo";
  ASSERT_EQ(mkfifo(options_.outcome_file.c_str(), 0600), 0);

  EXPECT_EQ(report_of(Kind::ran, Reason::none), 3);

  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], HasSubstr("a FIFO that no process reads"));
}

TEST_F(Report, AnOutcomeFileOnAFullDiskIsAWarning) {
  options_.outcome_file = "/dev/full";

  EXPECT_EQ(report_of(Kind::ran, Reason::none), 3);

  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], HasSubstr("No space left on device"));
}

TEST_F(Report, AnOutcomeFileThatIsAStoppedTerminalIsAWarning) {
  // given
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  options_.outcome_file = ptsname(terminal);
  const int line = open(options_.outcome_file.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(tcflow(line, TCOOFF), 0);

  // when
  const int code = report_of(Kind::ran, Reason::none);

  // then
  EXPECT_EQ(code, 3);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], HasSubstr("accepted no data"));
  close(line);
  close(terminal);
}

TEST_F(Report, TheOutcomeIsTheLastLineOfJsonLogs) {
  options_.outcome_file = dir_ + "/no/such";

  (void)report_of(Kind::skipped, Reason::held, LogFormat::json);

  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_THAT(lines_.back(), HasSubstr(R"("outcome":"skipped")"));
}

TEST_F(Report, MetricsFileContainsLockStatisticsAndIsReadableByOthers) {
  options_.metrics_file = dir_ + "/cronlatch.prom";

  (void)report_of(Kind::ran, Reason::none);

  struct stat is {};
  ASSERT_EQ(stat(options_.metrics_file.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0644U);
  EXPECT_THAT(
      text_of(options_.metrics_file),
      HasSubstr(R"(cronlatch_lock_acquired_total{namespace="a",cronjob="b",lock="a/b"} 7)"));
  EXPECT_THAT(text_of(options_.metrics_file), Not(HasSubstr("run_errors")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1) << "no leftovers";
}

// As root, it was /dev/null that became a file.
TEST_F(Report, AMetricsFileThatIsNoRegularFileStaysWhatItIs) {
  // given
  options_.metrics_file = dir_ + "/metrics.prom";
  ASSERT_EQ(mkfifo(options_.metrics_file.c_str(), 0600), 0);

  // when
  const int code = report_of(Kind::ran, Reason::none);

  // then
  EXPECT_EQ(code, 3);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("it is not a regular file")));
  EXPECT_TRUE(std::filesystem::is_fifo(options_.metrics_file));
}

// The command's standard output can be such a pipe.
TEST_F(Report, AMetricsFileThatIsAPipeLosesNothingOfItsText) {
  // given
  options_.metrics_file = dir_ + "/metrics.prom";
  ASSERT_EQ(mkfifo(options_.metrics_file.c_str(), 0600), 0);
  const int pipe = open(options_.metrics_file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  ASSERT_EQ(write(pipe, "mine", 4), 4);

  // when
  report_of(Kind::ran, Reason::none);

  // then
  std::array<char, 8> left{};
  EXPECT_EQ(read(pipe, left.data(), left.size()), 4);
  close(pipe);
}

TEST_F(Report, RunErrorsAreAddedAndTheLastStatisticsStayWhileTheStoreIsUnavailable) {
  // given
  options_.metrics_file = dir_ + "/cronlatch.prom";
  (void)report_of(Kind::ran, Reason::none);

  // when
  lock_stats_.view.reset();
  (void)report_of(Kind::store_down, Reason::unreachable);
  (void)report_of(Kind::store_down, Reason::unreachable);
  (void)report_of(Kind::refused, Reason::auth);

  // then
  const std::string text = text_of(options_.metrics_file);
  const std::string labels = R"({namespace="a",cronjob="b",lock="a/b",reason=)";
  EXPECT_THAT(
      text, HasSubstr(R"(cronlatch_lock_acquired_total{namespace="a",cronjob="b",lock="a/b"} 7)"));
  EXPECT_THAT(text, HasSubstr("cronlatch_run_errors_total" + labels + "\"unreachable\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("cronlatch_run_errors_total" + labels + "\"auth\"} 1\n"));
}

TEST(RunError, IsAnOutcomeThatTheStoreDoesNotCount) {
  Outcome outcome;
  outcome.kind = Kind::cannot_start;
  outcome.reason = Reason::exec;
  EXPECT_THAT(run_errors_of(outcome), ElementsAre(Reason::exec));
  outcome.fence = 7;  // granted: the store counts it
  EXPECT_THAT(run_errors_of(outcome), IsEmpty());
  outcome.kind = Kind::ran;
  outcome.reason = Reason::ungated;
  EXPECT_THAT(run_errors_of(outcome), ElementsAre(Reason::ungated));
  outcome.not_marked = true;
  EXPECT_THAT(run_errors_of(outcome), ElementsAre(Reason::ungated, Reason::not_marked));
  outcome.not_marked = false;
  for (const Kind kind : {Kind::skipped, Kind::busy, Kind::interrupted}) {
    outcome.kind = kind;
    outcome.reason = Reason::held;
    EXPECT_THAT(run_errors_of(outcome), IsEmpty());
  }
}

TEST(OutcomeOfError, GivesTheExitCodeOfTheError) {
  for (const Code code : {Code::usage, Code::config, Code::unreachable, Code::auth, Code::acl,
                          Code::tls, Code::exec_denied, Code::exec_missing, Code::system}) {
    const Error error{code, "trouble", "a way out"};

    const Outcome outcome = outcome_of(error, Options{}, {});

    EXPECT_EQ(exit_code(outcome, 0), exit_code(error));
    EXPECT_EQ(line_of(outcome).message, "trouble");
    EXPECT_EQ(line_of(outcome).hint, "a way out");
  }
}

// --outcome-file /dev/stdout, with a log that crontab appends to.
TEST_F(Report, AnOutcomeInTheLogKeepsWhatOthersWrote) {
  const std::string log = dir_ + "/log";
  std::ofstream(log) << "yesterday\n";
  const Fd appended(open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const Fd standard_output(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(dup2(appended.get(), STDOUT_FILENO), STDOUT_FILENO);
  options_.outcome_file = "/dev/stdout";
  report_of(Kind::ran, Reason::none);
  dup2(standard_output.get(), STDOUT_FILENO);

  std::ifstream written(log);
  std::string first, second;
  std::getline(written, first);
  std::getline(written, second);
  EXPECT_EQ(first, "yesterday");
  EXPECT_THAT(second, testing::StartsWith("{\"v\":1,"));
}

// A collector that expects JSON gets no other line, and the outcome is the last one.
TEST(UnloadableOptions, AreReportedInTheFormatOfTheLog) {
  const FixedClock clock;
  const auto lines = [&](std::vector<std::string> arguments, std::vector<std::string> variables) {
    std::vector<std::string> logged;
    report_unloadable(Error{Code::usage, "bad", "repair it"},
                      {std::move(arguments), std::move(variables), clock},
                      [&](std::string_view line) { logged.emplace_back(line); });
    return logged;
  };
  const auto is_json = ElementsAre(
      AllOf(testing::StartsWith("{\"time\":"), HasSubstr("\"message\":\"bad\""),
            HasSubstr("\"hint\":\"repair it\"")),
      AllOf(testing::StartsWith("{\"v\":1,\"outcome\":\"usage\""), testing::EndsWith("}\n")));
  EXPECT_THAT(lines({"--log-format", "json", "--lok", "a"}, {}), is_json);
  EXPECT_THAT(lines({"--lok=a", "--log-format=json", "--", "tool"}, {}), is_json);
  EXPECT_THAT(lines({"--lok=a"}, {"CRONLATCH_LOG_FORMAT=json"}), is_json);

  const auto is_text = ElementsAre("cronlatch: bad (repair it)\n");
  EXPECT_THAT(lines({"--lok=a"}, {}), is_text);
  EXPECT_THAT(lines({"--log-format", "xml"}, {}), is_text);
  EXPECT_THAT(lines({"--isolated", "--lok=a"}, {"CRONLATCH_LOG_FORMAT=json"}), is_text);
  EXPECT_THAT(lines({"--lock", "a", "tool", "--log-format=json"}, {}), is_text);
  EXPECT_THAT(lines({"--log-format=logfmt"}, {}),
              ElementsAre(AllOf(HasSubstr("message=bad"), HasSubstr("hint=\"repair it\""))));
}

TEST(UnloadableOptions, StillWriteTheOutcomeFile) {
  // given
  std::string pattern = testing::TempDir() + "report.XXXXXX";
  const std::string dir = mkdtemp(pattern.data());
  const FixedClock clock;
  const auto written = [&](std::vector<std::string> arguments) {
    std::filesystem::remove(dir + "/o");
    report_unloadable(Error{Code::usage, "bad"},
                      {std::move(arguments), {"CRONLATCH_OUTCOME_FILE=" + dir + "/o"}, clock},
                      [](std::string_view) {});
    return std::filesystem::exists(dir + "/o");
  };

  // then
  EXPECT_TRUE(written({"--no-such-flag"}));
  EXPECT_TRUE(written({"--isolated", "--outcome-file=" + dir + "/o"}));
  EXPECT_TRUE(written({"--isolated", "--outcome-file", dir + "/o"}));
  EXPECT_FALSE(written({"--isolated", "--", "--outcome-file", dir + "/o"}));
  std::filesystem::remove_all(dir);
}

// `run tool --outcome-file=data`, without --: the file is the tool's.
TEST(UnloadableOptions, LeaveTheFileOfACommandWithoutTwoDashesBeforeIt) {
  std::string dir = testing::TempDir() + "unloadable.XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const FixedClock clock;
  const Error error{Code::usage, "unexpected word"};
  const std::string flag = "--outcome-file=" + dir + "/data";

  const auto ignore = [](std::string_view) {};
  report_unloadable(error, {{"--lock", "a", "tool", flag}, {}, clock}, ignore);
  EXPECT_FALSE(std::filesystem::exists(dir + "/data"));

  report_unloadable(error, {{"--verbose", "tool", flag}, {}, clock}, ignore);
  EXPECT_FALSE(std::filesystem::exists(dir + "/data")) << "--verbose is a flag without a value";

  report_unloadable(error, {{"--lok", "a", "--tls-skip-verify", flag, "--", "tool"}, {}, clock},
                    ignore);
  EXPECT_TRUE(std::filesystem::exists(dir + "/data"));
  std::filesystem::remove_all(dir);
}

TEST(RunSpec, ContainsTheOptions) {
  // given
  Options options;
  options.lock = "a";
  options.holder = "h";
  options.job = "n/j";
  options.attempt_group = "g";
  options.once_per = "o";
  options.skip_command = {"x"};
  options.max_run = Millis(7);

  // when
  const Result<RunSpec> spec = make_run_spec(options, {"0123", 42, Micros(9)});

  // then
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->identity, (Identity{"h", "n/j", "g", "o"}));
  EXPECT_EQ(spec->owner, "0123");
  EXPECT_EQ(spec->seed, 42U);
  EXPECT_EQ(spec->wall_minus_boot, Micros(9));
  EXPECT_EQ(spec->timings.ttl, Millis(120'000));
  EXPECT_EQ(spec->once_ttl, options.once_ttl);
  EXPECT_EQ(spec->max_run, Millis(7));
  EXPECT_TRUE(spec->has_skip_command);
}

TEST(RunSpec, OwnersAreLongAndNeverTheSame) {
  const FixedClock clock;

  const Result<RunFacts> one = read_run_facts(clock);
  const Result<RunFacts> two = read_run_facts(clock);

  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->owner.size(), 32U);
  EXPECT_EQ(one->owner.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one->owner, two->owner);
}

TEST(RunSpec, AShortLeaseIsWarnedOf) {
  Options options;
  EXPECT_THAT(lease_warnings(options, *plan_timings(timing_options(options))), IsEmpty());
  options.ttl = Millis(10'000);
  EXPECT_EQ(lease_warnings(options, *plan_timings(timing_options(options))).size(), 1U);
}

}  // namespace
}  // namespace cronlatch
