// SPDX-License-Identifier: Apache-2.0
// Precedence, origins, and the codes of everything that may be wrong.
#include "config/load.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/outcome.h"
#include "fake_files.h"

namespace cronlatch {
namespace {

using Words = std::vector<std::string>;

struct Given {
  Words flags;
  Words environment{};
  FakeFiles files{};
};

Result<LoadedOptions> load_run(const Given& given) {
  Words args = given.flags;
  args.insert(args.end(), {"--", "true"});
  return load({args, given.environment, Operands::command, {}}, given.files, kHost);
}

// "78: message" or "ok".
std::string answer(const Given& given) {
  const Result<LoadedOptions> loaded = load_run(given);
  return loaded.ok() ? "ok"
                     : std::to_string(exit_code(loaded.error())) + ": " + loaded.error().message;
}

const std::string kDefaultFile = "/etc/cronlatch.yaml";

TEST(Load, PrefersFlagsToEnvironmentToFileToDefault) {
  const FakeFiles file = {{kDefaultFile, "# x\nttl: 3m\n"}};
  const Words environment = {"CRONLATCH_TTL=4m"};
  const auto ttl = [](const Given& given) {
    const Result<LoadedOptions> loaded = load_run(given);
    return loaded.ok() ? show_duration(loaded->options.ttl) + ", " + loaded->origin("ttl")
                       : loaded.error().message;
  };
  EXPECT_EQ(ttl({{}}), "2m, default");
  EXPECT_EQ(ttl({{}, {}, file}), "3m, /etc/cronlatch.yaml:2");
  EXPECT_EQ(ttl({{}, environment, file}), "4m, environment CRONLATCH_TTL");
  EXPECT_EQ(ttl({{"--ttl", "5m"}, environment, file}), "5m, flag");
}

TEST(Load, FindsTheFileByFlagThenVariableThenDefault) {
  const FakeFiles files = {
      {"/flag", "ttl: 3m"}, {"/variable", "ttl: 4m"}, {kDefaultFile, "ttl: 5m"}};
  const Words environment = {"CRONLATCH_CONFIG=/variable"};
  EXPECT_EQ(load_run({{"--config", "/flag"}, environment, files})->origin("ttl"), "/flag:1");
  EXPECT_EQ(load_run({{}, environment, files})->origin("ttl"), "/variable:1");
  EXPECT_EQ(load_run({{}, {}, files})->origin("ttl"), "/etc/cronlatch.yaml:1");
}

TEST(Load, MissesOnlyTheDefaultFileInSilence) {
  EXPECT_EQ(answer({{}}), "ok");
  EXPECT_EQ(answer({{"--config", "/none"}}),
            "78: --config: cannot read \"/none\": No such file or directory");
  EXPECT_EQ(answer({{}, {"CRONLATCH_CONFIG=/none"}}),
            "78: CRONLATCH_CONFIG: cannot read \"/none\": No such file or directory");
  Given unreadable{{}};
  unreadable.files.errors[kDefaultFile] = EACCES;
  EXPECT_EQ(answer(unreadable), "78: cannot read \"/etc/cronlatch.yaml\": Permission denied");
}

TEST(Load, ReadsOnlyTheDefaultFileAndTheBootId) {
  const Given given{{"--lock", "a"}};
  ASSERT_TRUE(load_run(given).ok());
  EXPECT_EQ(given.files.asked, (Words{kDefaultFile, "/proc/sys/kernel/random/boot_id"}));
}

TEST(Load, NamesThePlaceOfABadValue) {
  EXPECT_EQ(answer({{"--ttl", "90"}}), "64: --ttl: \"90\" has no unit");
  EXPECT_EQ(answer({{}, {"CRONLATCH_TTL=90"}}), "64: CRONLATCH_TTL: \"90\" has no unit");
  EXPECT_EQ(answer({{}, {}, {{kDefaultFile, "\nttl: 90\n"}}}),
            "64: /etc/cronlatch.yaml:2: ttl: \"90\" has no unit");
}

TEST(Load, RefusesABadValueEvenIfAnotherOverridesIt) {
  EXPECT_EQ(answer({{"--ttl", "5m"}, {"CRONLATCH_TTL=90"}}),
            "64: CRONLATCH_TTL: \"90\" has no unit");
}

TEST(Load, ReturnsTheCodeOfEachError) {
  EXPECT_EQ(answer({{"--tll", "5m"}}), "64: unknown flag --tll");
  EXPECT_EQ(answer({{}, {"CRONLATCH_TLL=5m"}}), "64: unknown variable CRONLATCH_TLL");
  EXPECT_EQ(answer({{}, {}, {{kDefaultFile, "tll: 5m"}}}),
            "64: /etc/cronlatch.yaml:1: unknown key \"tll\"");
  EXPECT_EQ(answer({{"--lock", "a{b}"}}),
            "78: --lock: lock name \"a{b}\" contains \"{\" at position 2");
  EXPECT_EQ(answer({{"--lock", ""}}), "78: --lock: the lock name is empty");
  EXPECT_EQ(answer({{}, {"CRONLATCH_LOCK=a b"}}),
            "78: CRONLATCH_LOCK: lock name \"a b\" contains a blank at position 2");
  EXPECT_EQ(
      answer({{}, {}, {{kDefaultFile, "lock: \"a\\0b\""}}}),
      "78: /etc/cronlatch.yaml:1: lock: lock name \"a\\x00b\" contains a NUL byte at position 2");
  EXPECT_EQ(answer({{"--lock", std::string(201, 'x')}}),
            "78: --lock: lock name \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is 201 characters long");
  EXPECT_EQ(answer({{"--store", "redis://u:p@h"}}),
            "64: --store: the store's URL contains a password, which `ps` and logs would display");
  EXPECT_EQ(answer({{}, {"CRONLATCH_STORE=redis://u:p@h"}}),
            "64: CRONLATCH_STORE: the store's URL contains a password, which `ps` and logs would "
            "display");
  EXPECT_EQ(answer({{"--store", "redis://h:99999"}}),
            "78: --store: the port must be 1 to 65535, in digits");
  EXPECT_EQ(answer({{}, {"CRONLATCH_STORE=redis://h/x"}}),
            "78: CRONLATCH_STORE: the database number after the host must be 0 to 65535");
  EXPECT_EQ(answer({{}, {}, {{kDefaultFile, "ttl: 30s\nstore: redis://h1,redis://h2\n"}}}),
            "78: /etc/cronlatch.yaml:2: store: a list of URLs is a quorum, and it has 2 servers; "
            "set 3, 5 or 7");
  EXPECT_TRUE(
      answer({{"--ttl", "5s", "--renew-every", "4s"}}).starts_with("78: ttl 5.0s is too short"));
  EXPECT_EQ(answer({{"--store", "redis://h", "--password-file", "/p"}}),
            "78: password-file: cannot read \"/p\": No such file or directory");
  EXPECT_EQ(answer({{"--store", "rediss://h", "--tls-cert", "/c"}}),
            "78: tls-cert is set without tls-key");
  EXPECT_EQ(answer({{"--isolated", "--config", "/x"}}),
            "78: config and isolated exclude each other");
  EXPECT_EQ(answer({{"--isolated=perhaps"}}),
            "64: --isolated: \"perhaps\" is not one of true, false");
  EXPECT_EQ(answer({{}, {"CRONLATCH_STORE="}}), "64: CRONLATCH_STORE: the store's URL is empty");
}

TEST(Load, GivesAHintWithEachError) {
  for (const Given& given :
       {Given{{"--tll", "5m"}}, Given{{"--ttl", "90"}}, Given{{"--lock", "a b"}},
        Given{{"--store", "redis://u:p@h"}}, Given{{"--ttl", "5s", "--renew-every", "4s"}},
        Given{{"--store", "redis://h", "--password-file", "/p"}}, Given{{"--tls-cert", "/c"}},
        Given{{"--config", "/none"}}}) {
    const Result<LoadedOptions> loaded = load_run(given);
    ASSERT_FALSE(loaded.ok());
    EXPECT_FALSE(loaded.error().hint.empty()) << loaded.error().message;
  }
}

TEST(Load, ReadsOnlyFlagsWhenIsolated) {
  const Given given{
      {"--isolated", "--lock", "a", "--store", "redis://h"},
      {"CRONLATCH_TTL=5m", "CRONLATCH_NONSENSE=1", "CRONLATCH_PASSWORD=x", "CRONLATCH_CONFIG=/y"},
      {{kDefaultFile, "ttl: 3m"}, {"/y", "ttl: 4m"}}};
  const Result<LoadedOptions> loaded = load_run(given);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->options.ttl, Millis(120'000));
  EXPECT_TRUE(loaded->password.empty());
  EXPECT_EQ(given.files.asked, Words{"/proc/sys/kernel/random/boot_id"});
}

TEST(Load, FillsInWhatFollowsFromCommandAndHost) {
  Given given{{}};
  given.files = {{"/proc/sys/kernel/random/boot_id", "1234-abcd\n"}};
  const Result<LoadedOptions> loaded = load_run(given);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->options.lock, default_lock(Words{"true"}));
  EXPECT_EQ(loaded->options.store, "file:///tmp/cronlatch-1000");
  EXPECT_EQ(loaded->options.holder, "node1:42:1234-abcd");
  for (const char* key : {"lock", "store", "holder"}) EXPECT_EQ(loaded->origin(key), "default");
  EXPECT_EQ(loaded->operands, Words{"true"});
}

TEST(Load, LeavesTheLockOpenWithoutACommand) {
  const Words args = {"reports/nightly"};
  const Result<LoadedOptions> loaded = load({args, {}, Operands::name, {}}, FakeFiles{}, kHost);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->options.lock, "");
  EXPECT_EQ(loaded->operands, args);
}

TEST(Load, ContainsCredentialsWithTheirOrigin) {
  const Given given{{"--store", "rediss://h", "--credentials-dir", "/s"},
                    {},
                    {{"/s/username", "bob"}, {"/s/password", "pw\n"}, {"/s/ca.crt", "CA"}}};
  const Result<LoadedOptions> loaded = load_run(given);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->password.reveal(), "pw");
  EXPECT_EQ(loaded->password_origin, "/s/password");
  EXPECT_EQ(loaded->origin("redis-username"), "/s/username");
  EXPECT_EQ(loaded->origin("tls-ca"), "/s/ca.crt");
  EXPECT_EQ(loaded->origin("tls-cert"), "default");
}

TEST(Load, RefusesACertificateWithoutKeyInTheDirectory) {
  EXPECT_EQ(
      answer({{"--store", "rediss://h", "--credentials-dir", "/s"}, {}, {{"/s/tls.crt", "C"}}}),
      "78: credentials-dir: tls-cert is set without tls-key");
}

TEST(Load, WarnsOfAnUnverifiedStore) {
  const Result<LoadedOptions> loaded = load_run({{"--store", "rediss://h", "--tls-skip-verify"}});
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_EQ(loaded->warnings[0].event, "tls_unverified");
  EXPECT_EQ(loaded->warnings[0].level, Level::warn);
}

// It excludes `lock` and a Redis store, which the next test sets.
TEST(Load, TakesALockFileFromEverySource) {
  Given by_flag{{"--lock-file=/l"}}, by_variable{{}}, by_file{{}};
  by_variable.environment = {"CRONLATCH_LOCK_FILE=/l"};
  by_file.files = {{kDefaultFile, "lock-file: /l\n"}};
  for (const Given* given : {&by_flag, &by_variable, &by_file}) {
    const Result<LoadedOptions> loaded = load_run(*given);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ(loaded->options.lock_file, "/l");
    EXPECT_EQ(loaded->options.lock, "_file/l");
    EXPECT_NE(loaded->origin("lock"), "default");
  }
}

// It excludes `lock` and `strict`, which the next test sets.
TEST(Load, TakesASharedKeyFromEverySource) {
  Given by_flag{{"--store=redis://h", "--key-format=redlock", "--foreign-key=k:a"}};
  Given by_variable{{}}, by_file{{}};
  by_variable.environment = {"CRONLATCH_STORE=redis://h", "CRONLATCH_KEY_FORMAT=redlock",
                             "CRONLATCH_FOREIGN_KEY=k:a"};
  by_file.files = {{kDefaultFile, "store: redis://h\nkey-format: redlock\nforeign-key: 'k:a'\n"}};
  for (const Given* given : {&by_flag, &by_variable, &by_file}) {
    const Result<LoadedOptions> loaded = load_run(*given);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ(loaded->options.key_format, KeyFormat::redlock);
    EXPECT_EQ(loaded->options.foreign_key, "k:a");
    EXPECT_EQ(loaded->options.lock, "_redlock/k_3aa");
  }
}

TEST(Load, TakesEveryOptionFromEverySource) {
  // given: a value for each option that is not its default
  const std::map<std::string_view, std::string> values = {{"lock", "a"},
                                                          {"job", "ns/j"},
                                                          {"store", "rediss+sentinel://h/m"},
                                                          {"slots", "2"},
                                                          {"ttl", "3m"},
                                                          {"renew-every", "7s"},
                                                          {"on-busy", "wait"},
                                                          {"skip-command", "[\"true\"]"},
                                                          {"wait-timeout", "7s"},
                                                          {"min-hold", "7s"},
                                                          {"max-run", "7s"},
                                                          {"kill-after", "7s"},
                                                          {"leftovers", "wait"},
                                                          {"untracked", "allow"},
                                                          {"guardian", "off"},
                                                          {"warn-after", "7s"},
                                                          {"on-lost", "term"},
                                                          {"on-store-down", "wait"},
                                                          {"once-per", "x@1"},
                                                          {"grace-period", "40s"},
                                                          {"once-ttl", "7d"},
                                                          {"attempt-group", "g"},
                                                          {"holder", "h"},
                                                          {"credentials-dir", "/s"},
                                                          {"redis-username", "u"},
                                                          {"password-file", "/p"},
                                                          {"sentinel-username", "s"},
                                                          {"sentinel-password-file", "/sp"},
                                                          {"tls-ca", "/ca"},
                                                          {"tls-cert", "/c"},
                                                          {"tls-key", "/k"},
                                                          {"tls-server-name", "n"},
                                                          {"tls-skip-verify", "true"},
                                                          {"connect-timeout", "7s"},
                                                          {"op-timeout", "2s"},
                                                          {"strict", "true"},
                                                          {"min-replicas", "2"},
                                                          {"max-ttl", "9m"},
                                                          {"key-prefix", "p:"},
                                                          {"exit-skipped", "7"},
                                                          {"outcome-file", "/o"},
                                                          {"metrics-file", "/m"},
                                                          {"metrics-push", "http://gw:9091"},
                                                          {"log-format", "json"},
                                                          {"log-level", "debug"},
                                                          {"config", "/empty"}};
  const std::set<std::string_view> not_here = {"isolated", "command-by-arch", "lock-file",
                                               "key-format", "foreign-key"};
  Given by_flag{{}}, by_variable{{}}, by_file{{}};
  std::string yaml;
  for (const Option& option : option_table()) {
    if (not_here.contains(option.key)) continue;
    const std::string& value = values.at(option.key);
    by_flag.flags.push_back(flag_of(option) + "=" + value);
    by_variable.environment.push_back(variable_of(option) + "=" + value);
    if (option.key != "config") yaml += std::string(option.key) + ": '" + value + "'\n";
  }
  by_flag.files = by_variable.files = {{"/p", "pw"}, {"/sp", "pw"}, {"/empty", ""}};
  by_file.files = {{"/p", "pw"}, {"/sp", "pw"}, {kDefaultFile, yaml}};
  for (const Given* given : {&by_flag, &by_variable, &by_file}) {
    // when
    const Result<LoadedOptions> loaded = load_run(*given);
    // then
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    for (const Option& option : option_table()) {
      if (not_here.contains(option.key) || (given == &by_file && option.key == "config")) continue;
      EXPECT_EQ(show_option(loaded->options, option), values.at(option.key)) << option.key;
      EXPECT_NE(loaded->origin(option.key), "default") << option.key;
    }
  }
}

}  // namespace
}  // namespace cronlatch
