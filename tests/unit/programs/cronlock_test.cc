// SPDX-License-Identifier: Apache-2.0
// The variables and files of cronlock and golock, as options of `cronlatch run`, and their exit
// codes.
#include "programs/cronlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "programs/golock.h"

namespace cronlatch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;
using Parse = Result<ParsedProgram> (*)(const ProgramInput&);
using Files = std::map<std::string, std::string>;

Result<ParsedProgram> parse(Parse program, const Words& words, const Words& environment = {},
                            const Files& files = {}) {
  ProgramInput input;
  input.arguments = words;
  input.environment = environment;
  input.program_directory = "/opt/bin";
  input.link_directory = "/usr/local/bin";
  input.read = [&](const std::string& path) -> ProgramFile {
    const auto at = files.find(path);
    if (at == files.end()) return {"", ENOENT};
    return at->second == "denied" ? ProgramFile{"", EACCES} : ProgramFile{at->second};
  };
  return program(input);
}

NativeRun run_of(Parse program, const Words& words, const Words& environment = {},
                 const Files& files = {}) {
  const Result<ParsedProgram> parsed = parse(program, words, environment, files);
  if (parsed.ok() && std::holds_alternative<NativeRun>(*parsed))
    return std::get<NativeRun>(*parsed);
  ADD_FAILURE() << (parsed.ok() ? "no run" : parsed.error().message);
  return {};
}

Error error_of(Parse program, const Words& words, const Words& environment = {},
               const Files& files = {}) {
  const Result<ParsedProgram> parsed = parse(program, words, environment, files);
  return parsed.ok() ? Error{Code::bug, "accepted"} : parsed.error();
}

TEST(Cronlock, HasAllOptionsOfARunOnItsKey) {
  const NativeRun run = run_of(parse_cronlock, {"pwd"});
  EXPECT_THAT(run.options,
              ElementsAre("--isolated", "--store=redis://localhost:6379/0", "--connect-timeout=30s",
                          "--key-format=cronlock",
                          "--foreign-key=cronlock.c6ad4d9c5b03d1b42aec7d14899614db", "--ttl=120s",
                          "--min-hold=40s", "--on-store-down=wait", "--wait-timeout=75s",
                          "--exit-skipped=200", "--leftovers=leave", "--log-level=warn"));
  EXPECT_THAT(run.command, ElementsAre("pwd"));
}

// compat: the two differ by the newline of echo.
TEST(Cronlock, TheKeyIsTheMd5OfTheCommandAndANewline) {
  EXPECT_THAT(run_of(parse_cronlock, {"pwd"}).options, Contains(HasSubstr("=cronlock.c6ad4d9c")));
  EXPECT_THAT(run_of(parse_golock, {"pwd"}).options, Contains(HasSubstr("=cronlock.9003d1df")));
  EXPECT_EQ(run_of(parse_cronlock, {"a b", "c"}).options,
            run_of(parse_cronlock, {"a", "b c"}).options);
  for (const Parse program : {parse_cronlock, parse_golock}) {
    const Words environment = {"CRONLOCK_KEY=report", "CRONLOCK_PREFIX=x:"};
    EXPECT_THAT(run_of(program, {"a"}, environment).options, Contains("--foreign-key=x:report"));
  }
}

TEST(Cronlock, TakesEveryVariable) {
  const Words options =
      run_of(parse_cronlock, {"a"},
             {"CRONLOCK_HOST=r.example", "CRONLOCK_PORT=7", "CRONLOCK_DB=2",
              "CRONLOCK_REDIS_TIMEOUT=3", "CRONLOCK_GRACE=0", "CRONLOCK_RELEASE=30",
              "CRONLOCK_RECONNECT_ATTEMPTS=2", "CRONLOCK_RECONNECT_BACKOFF=4", "CRONLOCK_TIMEOUT=9",
              "CRONLOCK_KEY=k", "CRONLOCK_VERBOSE=yes"})
          .options;
  EXPECT_THAT(options,
              ElementsAre("--isolated", "--store=redis://r.example:7/2", "--connect-timeout=3s",
                          "--key-format=cronlock", "--foreign-key=cronlock.k", "--ttl=30s",
                          "--max-run=9s", "--on-store-down=wait", "--wait-timeout=12s",
                          "--exit-skipped=200", "--leftovers=leave", "--log-level=info"));
  const Words no_retry = {"CRONLOCK_RECONNECT_ATTEMPTS=0", "CRONLOCK_RELEASE=1"};
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, no_retry).options, Not(Contains(HasSubstr("wait"))));
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, no_retry).options, Contains("--ttl=5s"));
  EXPECT_THAT(run_of(parse_golock, {"a"}).options, Contains("--wait-timeout=25s"))
      << "its pauses are equal";
}

TEST(Cronlock, ConnectsToSentinels) {
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, {"CRONLOCK_USE_SENTINEL=yes", "CRONLOCK_DB=1"}).options,
              Contains("--store=redis+sentinel://localhost:26379/mymaster/1"));
  EXPECT_THAT(run_of(parse_cronlock, {"a"},
                     {"CRONLOCK_USE_SENTINEL=yes", "CRONLOCK_SENTINEL_HOST=s",
                      "CRONLOCK_SENTINEL_PORT=1", "CRONLOCK_SENTINEL_MASTER=m"})
                  .options,
              Contains("--store=redis+sentinel://s:1/m/0"));
  EXPECT_THAT(run_of(parse_golock, {"a"}, {"CRONLOCK_USE_SENTINEL=yes"}).options,
              Contains("--store=redis://localhost:6379/0"))
      << "golock ignores it";
}

TEST(Cronlock, TheFileOverridesTheEnvironmentAndTheFirstFileIsUsed) {
  const Files files = {{"/opt/bin/cronlock.conf", "CRONLOCK_HOST=beside\nCRONLOCK_PORT=\n"},
                       {"/etc/cronlock.conf", "CRONLOCK_HOST=etc"},
                       {"/x", "CRONLOCK_HOST='named'"}};
  const Words environment = {"CRONLOCK_HOST=env", "CRONLOCK_PORT=7", "CRONLOCK_DB=3"};
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, environment, files).options,
              Contains("--store=redis://beside:6379/3"))
      << "an empty value unsets the variable";
  EXPECT_THAT(
      run_of(parse_cronlock, {"a"}, {}, {{"/etc/cronlock.conf", "CRONLOCK_HOST=etc"}}).options,
      Contains("--store=redis://etc:6379/0"));
  const std::string of_script = "/usr/local/bin/cronlock.conf";
  EXPECT_THAT(
      run_of(parse_cronlock, {"a"}, {},
             {{of_script, "CRONLOCK_HOST=old"}, {"/etc/cronlock.conf", "CRONLOCK_HOST=etc"}})
          .options,
      Contains("--store=redis://old:6379/0"))
      << "a link has replaced the script";
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, {"CRONLOCK_CONFIG=/x"}, files).options,
              Contains("--store=redis://named:6379/0"));
  EXPECT_THAT(run_of(parse_golock, {"a"}, {"CRONLOCK_CONFIG=/x"}, files).options,
              Contains("--store=redis://localhost:6379/0"))
      << "golock reads no file";
}

TEST(Cronlock, AFileThatCannotBeUsedIsAnError) {
  EXPECT_THAT(error_of(parse_cronlock, {"a"}, {"CRONLOCK_CONFIG=/none"}).message,
              StartsWith("cronlock: cannot read \"/none\": "));
  EXPECT_THAT(error_of(parse_cronlock, {"a"}, {}, {{"/etc/cronlock.conf", "denied"}}).message,
              HasSubstr("Permission denied"));
  const auto message = [](const char* text) {
    return error_of(parse_cronlock, {"a"}, {}, {{"/etc/cronlock.conf", text}}).message;
  };
  EXPECT_EQ(message("\nCRONLOCK_HOST=$(hostname)"),
            "cronlock: /etc/cronlock.conf:2: \"CRONLOCK_HOST=$(hostname)\" needs a shell, and "
            "nothing is executed");
  EXPECT_THAT(message("PATH=/x"), HasSubstr("cronlock.conf:1: PATH is not a variable of cronlock"));
  EXPECT_THAT(message("CRONLOCK_PORT=x"), HasSubstr("cronlock.conf:1: CRONLOCK_PORT: \"x\""));
}

TEST(Cronlock, AnInvalidValueIsAnErrorWithTheVariable) {
  for (const char* variable :
       {"CRONLOCK_PORT=0", "CRONLOCK_PORT=65536", "CRONLOCK_GRACE=-1", "CRONLOCK_GRACE=604801",
        "CRONLOCK_RELEASE=1d", "CRONLOCK_TIMEOUT=0x5", "CRONLOCK_DB=1 2", "CRONLOCK_HOST=h/1?x",
        "CRONLOCK_HOST=u:p@h", "CRONLOCK_KEY=a b", "CRONLOCK_KEY={a}"})
    for (const Parse program : {parse_cronlock, parse_golock}) {
      const std::string name = std::string(variable).substr(0, std::string(variable).find('='));
      const Error error = error_of(program, {"a"}, {variable});
      EXPECT_THAT(error.message + error.hint, HasSubstr(name)) << variable;
      EXPECT_FALSE(error.hint.empty());
    }
  EXPECT_THAT(error_of(parse_golock, {"a"}, {"CRONLOCK_TLS=yes"}).message,
              HasSubstr("CRONLOCK_TLS: \"yes\" is not valid"))
      << "golock connects without TLS";
  EXPECT_THAT(error_of(parse_cronlock, {}).message, HasSubstr("no command"));
}

TEST(Golock, HasTlsAndAnAddressOfItsOwn) {
  EXPECT_THAT(
      run_of(parse_golock, {"a"}, {"CRONLOCK_TLS=true", "CRONLOCK_TLS_SKIP_VERIFY=T"}).options,
      ElementsAre("--isolated", "--store=rediss://localhost:6379/0", "--tls-skip-verify",
                  "--connect-timeout=30s", "--key-format=golock",
                  HasSubstr("--foreign-key=cronlock."), "--ttl=120s", "--min-hold=40s",
                  "--on-store-down=wait", "--wait-timeout=25s", "--exit-skipped=200",
                  "--leftovers=leave", "--log-level=warn"));
  EXPECT_THAT(run_of(parse_golock, {"a"}, {"CRONLOCK_HOST=::1"}).options,
              Contains("--store=redis://[::1]:6379/0"));
  EXPECT_THAT(run_of(parse_golock, {"a"}, {"CRONLOCK_HOST=", "CRONLOCK_PORT="}).options,
              Contains("--store=redis://localhost:6379/0"));
  EXPECT_THAT(run_of(parse_golock, {"a"}, {"CRONLOCK_PREFIX=", "CRONLOCK_KEY=k"}).options,
              Contains("--foreign-key=k"))
      << "an empty text is a value";
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, {"CRONLOCK_PREFIX=", "CRONLOCK_KEY=k"}).options,
              Contains("--foreign-key=cronlock.k"))
      << "an empty variable is not set";
  EXPECT_EQ(run_of(parse_golock, {"a"}, {"CRONLOCK_SHOW_KEY=1", "CRONLOCK_KEY=k"}).message,
            "golock: the key is cronlock.k\n");
}

TEST(Cronlock, ThePasswordIsInNoOption) {
  const NativeRun run = run_of(parse_cronlock, {"a"}, {"CRONLOCK_AUTH=cron open sesame"});
  EXPECT_EQ(run.password.reveal(), "open sesame");
  EXPECT_THAT(run.options, Contains("--redis-username=cron"));
  EXPECT_THAT(native_command_line(run),
              StartsWith("CRONLATCH_PASSWORD=\"${CRONLOCK_AUTH#* }\" cronlatch run --store="));
  EXPECT_THAT(native_command_line(run), Not(HasSubstr("sesame")));
  const NativeRun golock = run_of(parse_golock, {"a"}, {"CRONLOCK_AUTH=open sesame"});
  EXPECT_EQ(golock.password.reveal(), "open sesame") << "golock has no user";
  EXPECT_THAT(golock.options, Not(Contains(HasSubstr("username"))));
}

TEST(Cronlock, ResetIsARevocationOfItsLock) {
  for (const Parse program : {parse_cronlock, parse_golock}) {
    const Result<ParsedProgram> parsed =
        parse(program, {"a"}, {"CRONLOCK_RESET=yes", "CRONLOCK_KEY=a:b"});
    ASSERT_TRUE(parsed.ok());
    const NativeRelease& release = std::get<NativeRelease>(*parsed);
    EXPECT_EQ(native_command_line(release),
              "cronlatch release _cronlock/cronlock.a_3ab --force --no-wait --isolated "
              "--store=redis://localhost:6379/0 --connect-timeout=30s\n");
    EXPECT_EQ(release.exit_code, 200);
    run_of(program, {"a"}, {"CRONLOCK_RESET=true"});
  }
}

TEST(Cronlock, FlagsAreTakenBeforeTheCommandOnly) {
  EXPECT_TRUE(run_of(parse_cronlock, {"--explain", "a", "--help"}).explain);
  EXPECT_THAT(run_of(parse_cronlock, {"--explain", "a", "--help"}).command,
              ElementsAre("a", "--help"));
  EXPECT_FALSE(run_of(parse_cronlock, {"a", "--explain"}).explain);
  EXPECT_EQ(run_of(parse_cronlock, {"--explain", "a"}).options,
            run_of(parse_cronlock, {"a"}).options);
  EXPECT_EQ(std::get<ProgramText>(*parse(parse_cronlock, {"--help"})).text, kCronlockHelp);
  EXPECT_EQ(std::get<ProgramText>(*parse(parse_golock, {"--help"})).text, kGolockHelp);
  EXPECT_THAT(run_of(parse_cronlock, {"a"}, {"CRONLOCK_NTPDATE=yes"}).message,
              HasSubstr("ntpdate is not executed"));
}

TEST(Cronlock, HasItsOwnExitCodes) {
  const auto code = [](Kind kind, std::optional<int> child = {}) {
    Outcome outcome;
    outcome.kind = kind;
    outcome.child_code = child;
    const int of_cronlock = end_cronlock({}, outcome).exit_code;
    if (kind != Kind::cannot_start) {
      EXPECT_EQ(end_golock({}, outcome).exit_code, of_cronlock);
    }
    return of_cronlock;
  };
  EXPECT_EQ(code(Kind::ran, 0), 0);
  EXPECT_EQ(code(Kind::ran, 7), 7);
  EXPECT_EQ(code(Kind::ran, 137), 137);
  for (const Kind kind : {Kind::skipped, Kind::busy}) EXPECT_EQ(code(kind), 200);
  for (const Kind kind : {Kind::store_down, Kind::refused, Kind::usage, Kind::lost})
    EXPECT_EQ(code(kind), 201);
  EXPECT_EQ(code(Kind::timed_out), 202);
  EXPECT_EQ(code(Kind::cannot_start), 126);
  Outcome missing;
  missing.kind = Kind::cannot_start;
  missing.error = Error{Code::exec_missing, ""};
  EXPECT_EQ(end_cronlock({}, missing).exit_code, 127);
  EXPECT_EQ(end_golock({}, missing).exit_code, 1);
}

}  // namespace
}  // namespace cronlatch
