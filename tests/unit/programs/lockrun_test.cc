// SPDX-License-Identifier: Apache-2.0
// The command line of lockrun, as options of `cronlatch run`, and its exit codes.
#include "programs/lockrun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

Result<ParsedProgram> parse(const Words& words, const std::string& directory = "/srv") {
  return parse_lockrun({words, directory, "file:///run/cronlatch"});
}

NativeRun run_of(const Words& words) {
  const Result<ParsedProgram> parsed = parse(words);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message;
    return {};
  }
  return std::get<NativeRun>(*parsed);
}

TEST(Lockrun, HasAllOptionsOfARunOnItsFile) {
  EXPECT_THAT(run_of({"--lockfile=/var/lock/a", "--", "job", "x y"}).options,
              ElementsAre("--isolated", "--store=file:///run/cronlatch", "--lock-file=/var/lock/a",
                          "--exit-skipped=1", "--leftovers=leave", "--log-level=warn"));
  EXPECT_THAT(run_of({"--lockfile=/var/lock/a", "--", "job", "x y"}).command,
              ElementsAre("job", "x y"));
}

TEST(Lockrun, AcceptsEveryFormOfAValue) {
  for (const Words& words : {Words{"--lockfile=/l", "--", "j"},
                             Words{"--lockfile", "/l", "--", "j"}, Words{"-L", "/l", "--", "j"},
                             Words{"-L=/l", "--", "j"}, Words{"-L", "/other", "-L=/l", "--", "j"}})
    EXPECT_THAT(run_of(words).options, Contains("--lock-file=/l")) << words[0];
}

TEST(Lockrun, KeepsThePathAndMakesARelativeOneAbsolute) {
  EXPECT_THAT(run_of({"-L", "/a/../b//c.lock", "--", "j"}).options,
              Contains("--lock-file=/a/../b//c.lock"));
  EXPECT_THAT(run_of({"-L", "c.lock", "--", "j"}).options, Contains("--lock-file=/srv/c.lock"));
  EXPECT_THAT(run_of({"-L", "././c", "--", "j"}).options, Contains("--lock-file=/srv/c"));
  const Words relative = {"-L", "c", "--", "j"};
  EXPECT_THAT(std::get<NativeRun>(*parse(relative, "/")).options, Contains("--lock-file=/c"));
  EXPECT_THAT(parse(relative, "").error().message, HasSubstr("current directory"));
}

TEST(Lockrun, WaitsWithoutALimitOrAsOftenAsItMayTry) {
  for (const char* wait : {"--wait", "-W"}) {
    const Words options = run_of({"-L", "/l", wait, "--", "j"}).options;
    EXPECT_THAT(options, Contains("--on-busy=wait"));
    EXPECT_THAT(options, Not(Contains(StartsWith("--wait-timeout"))));
  }
  EXPECT_THAT(run_of({"-L", "/l", "-W", "-R", "4", "-S=5", "--", "j"}).options,
              Contains("--wait-timeout=15s"));
  EXPECT_THAT(run_of({"-L", "/l", "-W", "--retries=4", "--", "j"}).options,
              Contains("--wait-timeout=30s"));
  EXPECT_THAT(run_of({"-L", "/l", "-W", "-R", "31536000", "-S", "31536000", "--", "j"}).options,
              Contains("--wait-timeout=31536000s"));
}

// A wait-timeout of 0 would be no limit.
TEST(Lockrun, DoesNotWaitWhereItMayTryOnce) {
  for (const Words& words : {Words{"-L", "/l", "-W", "-R", "1", "--", "j"},
                             Words{"-L", "/l", "-W", "-R", "5", "-S", "0", "--", "j"},
                             Words{"-L", "/l", "-R", "5", "--", "j"}})
    EXPECT_THAT(run_of(words).options, Not(Contains("--on-busy=wait")));
}

TEST(Lockrun, BothWordsForQuietMakeABusyLockASuccess) {
  for (const char* quiet : {"--quiet", "-q", "--idempotent", "-I"}) {
    const NativeRun run = run_of({"-L", "/l", quiet, "--", "j"});
    EXPECT_TRUE(run.quiet);
    EXPECT_THAT(run.options, Not(Contains("--exit-skipped=1")));
  }
}

TEST(Lockrun, TranslatesTheOtherFlags) {
  EXPECT_THAT(run_of({"-L", "/l", "-T", "60", "--", "j"}).options, Contains("--warn-after=60s"));
  EXPECT_THAT(run_of({"-L", "/l", "--maxtime=0", "--", "j"}).options,
              Not(Contains(StartsWith("--warn-after"))));
  for (const char* verbose : {"--verbose", "-V"})
    EXPECT_THAT(run_of({"-L", "/l", verbose, "--", "j"}).options, Contains("--log-level=info"));
  EXPECT_THAT(run_of({"-L", "/l", "--store=file:///s", "--", "j"}).options,
              Contains("--store=file:///s"));
  EXPECT_TRUE(run_of({"-L", "/l", "--explain", "--", "j"}).explain);
}

TEST(Lockrun, PrintsHelpAndVersionWithoutALockFile) {
  EXPECT_EQ(std::get<ProgramText>(*parse({"--help"})).text, kLockrunHelp);
  EXPECT_THAT(std::get<ProgramText>(*parse({"--version"})).text, StartsWith("lockrun"));
  EXPECT_THAT(run_of({"-L", "/l", "--", "job", "--help"}).command, ElementsAre("job", "--help"));
}

TEST(Lockrun, EveryWrongCommandLineIsOneErrorThatNamesTheProblem) {
  const std::pair<Words, const char*> cases[] = {
      {{}, "no lock file"},
      {{"--", "j"}, "no lock file"},
      {{"-L", "/l"}, "no command"},
      {{"-L", "/l", "--"}, "no command"},
      {{"-L", "/l", "j"}, "unexpected word \"j\""},
      {{"-L"}, "--lockfile needs a value"},
      {{"--lockfile=", "--", "j"}, "--lockfile is empty"},
      {{"--lockfil=/l", "--", "j"}, "unknown option \"--lockfil=/l\""},
      {{"-L", "/l", "-x", "--", "j"}, "unknown option \"-x\""},
      {{"-L", "/l", "-", "--", "j"}, "unknown option \"-\""},
      {{"-L", "/l", "--wait=yes", "--", "j"}, "--wait has no value"},
      {{"-L", "/l", "-S", "ten", "--", "j"}, "--sleep: \"ten\""},
      {{"-L", "/l", "-S", "-1", "--", "j"}, "--sleep: \"-1\""},
      {{"-L", "/l", "-T=1m", "--", "j"}, "--maxtime: \"1m\""},
      {{"-L", "/l", "-R=", "--", "j"}, "--retries: \"\""},
      {{"-L", "/l", "-R", "99999999999999999999", "--", "j"}, "--retries"}};
  for (const auto& [words, message] : cases) {
    const Result<ParsedProgram> parsed = parse(words);

    ASSERT_FALSE(parsed.ok()) << message;
    EXPECT_EQ(parsed.error().code, Code::usage);
    EXPECT_THAT(parsed.error().message, StartsWith("lockrun: "));
    EXPECT_THAT(parsed.error().message, HasSubstr(message));
    EXPECT_FALSE(parsed.error().hint.empty()) << message;
  }
}

Outcome outcome(Kind kind) {
  Outcome outcome;
  outcome.kind = kind;
  return outcome;
}

TEST(Lockrun, ABusyLockIsOneAndAMessageOrZeroAndNone) {
  const NativeRun loud{.command = {"job", "x"}}, quiet{.command = {"job"}, .quiet = true};
  for (const Kind kind : {Kind::skipped, Kind::busy}) {
    EXPECT_EQ(end_lockrun(loud, outcome(kind)).exit_code, 1);
    EXPECT_EQ(end_lockrun(loud, outcome(kind)).message,
              "ERROR: cannot launch job - run is locked\n");
    EXPECT_EQ(end_lockrun(quiet, outcome(kind)).exit_code, 0);
    EXPECT_EQ(end_lockrun(quiet, outcome(kind)).message, "");
  }
}

TEST(Lockrun, ReturnsTheCommandsOwnExitCode) {
  const NativeRun run{.command = {"job"}};
  Outcome ran = outcome(Kind::ran);
  for (const int code : {0, 1, 7, 137, 255}) {
    ran.child_code = code;
    EXPECT_EQ(end_lockrun(run, ran).exit_code, code);
    EXPECT_EQ(end_lockrun(run, ran).message, "");
  }
  Outcome missing = outcome(Kind::cannot_start);
  missing.error = Error{Code::exec_missing, ""};
  EXPECT_EQ(end_lockrun(run, missing).exit_code, 127);
  Outcome stopped = outcome(Kind::interrupted);
  stopped.signo = 15;
  EXPECT_EQ(end_lockrun(run, stopped).exit_code, 143);
}

TEST(Lockrun, ItsOwnErrorsAreOneAlsoWithQuiet) {
  for (const bool quiet : {false, true})
    for (const Kind kind : {Kind::store_down, Kind::refused, Kind::usage})
      EXPECT_EQ(end_lockrun({.command = {"job"}, .quiet = quiet}, outcome(kind)).exit_code, 1);
}

}  // namespace
}  // namespace cronlatch
