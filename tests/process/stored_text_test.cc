// SPDX-License-Identifier: Apache-2.0
// Texts that other programs, or older versions, have stored: whatever they are, what the real
// binary prints is bounded, valid and readable by its readers.
#include "base/text.h"
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class StoredText : public GatedByRedis {
 protected:
  RedisAnswer redis_do(const Words& command) { return redis_command(redis->port(), command); }
  ProgramSpec cli(const Words& words) const {
    Words argv = {binary(), words.front(), "--store", store};
    argv.insert(argv.end(), words.begin() + 1, words.end());
    return {.argv = argv};
  }
  int promtool(const std::string& file) {
    Program tool({.argv = {"/bin/sh", "-c", "exec promtool check metrics <\"$0\"", file}});
    return tool.exit_code().value_or(-1);
  }
};

TEST_F(StoredText, AHugeHolderIsDamageAndIsNotPrinted) {
  // Given
  ASSERT_TRUE(lock_is_free());
  redis_do({"HSET", "cronlatch:{job}", "holder", std::string(1'000'000, 'x')});
  // When
  Program gated(run({}, {"touch", go(), "exit", "0"}));
  Program list(cli({"ls"})), json(cli({"ls", "-o", "json"})), show(cli({"show", "job"}));
  Program metrics(cli({"metrics"}));
  // Then
  EXPECT_EQ(gated.exit_code(), 78) << gated.err().substr(0, 500);
  EXPECT_FALSE(exists(go()));
  EXPECT_THAT(gated.err(), HasSubstr("CRONLATCH_POISONED cronlatch:{job} holder"));
  EXPECT_EQ(list.exit_code(), 0);
  EXPECT_THAT(list.out(), HasSubstr("damaged"));
  EXPECT_EQ(json.exit_code(), 0);
  EXPECT_THAT(json.out(), HasSubstr("\"damaged\""));
  EXPECT_EQ(show.exit_code(), 78);
  EXPECT_THAT(show.err(), HasSubstr("holder"));
  EXPECT_EQ(metrics.exit_code(), 0);
  for (Program* program : {&gated, &list, &json, &show, &metrics})
    EXPECT_LT(program->out().size() + program->err().size(), 3'000u);
}

TEST_F(StoredText, AHugeJobNameInTheCountersIsDamageAndIsNotPrinted) {
  // Given
  ASSERT_TRUE(lock_is_free());
  redis_do({"HSET", "cronlatch:{job}:stats", "acquired|" + std::string(1'000'000, 'x'), "1"});
  // When
  Program list(cli({"ls", "-o", "json"})), show(cli({"show", "job"})), metrics(cli({"metrics"}));
  // Then
  EXPECT_EQ(list.exit_code(), 0);
  EXPECT_THAT(list.out(), HasSubstr("\"damaged\""));
  EXPECT_EQ(show.exit_code(), 78);
  EXPECT_EQ(metrics.exit_code(), 0);
  for (Program* program : {&list, &show, &metrics})
    EXPECT_LT(program->out().size() + program->err().size(), 3'000u);
}

TEST_F(StoredText, AJobThatIsNoUtf8IsRefused) {
  for (const std::string option : {"--job", "--holder", "--attempt-group", "--once-per"}) {
    Program gated(run({option, "shop/\xff"}, {"touch", go(), "exit", "0"}));
    EXPECT_EQ(gated.exit_code(), 64) << gated.err();
    EXPECT_THAT(gated.err(), HasSubstr("is not valid UTF-8 at position 6"));
    EXPECT_FALSE(exists(go()));
  }
  ProgramSpec spec = run({}, {"touch", go(), "exit", "0"});
  spec.env.push_back("CRONLATCH_JOB=shop/\xff");
  Program gated(spec);
  EXPECT_EQ(gated.exit_code(), 64) << gated.err();
  EXPECT_THAT(gated.err(), HasSubstr("CRONLATCH_JOB"));
}

TEST_F(StoredText, AJobThatIsNoUtf8InOldRecordsLeavesTheMetricsReadable) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "no promtool";
  // Given: what version 0.1.0 stored for such jobs, in the store and in its metrics file
  ASSERT_TRUE(lock_is_free());
  redis_do({"HSET", "cronlatch:{job}", "job", "shop/\xff", "holder", "host\xff"});
  redis_do({"HSET", "cronlatch:{job}:stats", "acquired|shop/\xff", "1", "acquired|shop/\xfe", "2"});
  const std::string file = dir.path("old.prom");
  std::ofstream(file)
      << "cronlatch_run_errors_total{namespace=\"shop\",cronjob=\"\xff\",lock=\"job\""
         ",reason=\"auth\"} 1\n";
  // When
  Program metrics({.argv = {"/bin/sh", "-c", "exec \"$0\" metrics --store \"$1\" >\"$2\"", binary(),
                            store, dir.path("page")}});
  ASSERT_EQ(metrics.exit_code(), 0) << metrics.err();
  Program gated(run({"--metrics-file", file}, {"exit", "0"}));
  ASSERT_EQ(gated.exit_code(), 0) << gated.err();
  Program json(cli({"show", "job", "-o", "json"}));
  // Then
  EXPECT_EQ(promtool(dir.path("page")), 0);
  EXPECT_EQ(promtool(file), 0) << read_file(file);
  EXPECT_THAT(read_file(file), HasSubstr("reason=\"auth\"} 1"));
  EXPECT_EQ(json.exit_code(), 0);
  EXPECT_EQ(json.out(), valid_utf8(json.out()));
}

}  // namespace
}  // namespace cronlatch::testing
