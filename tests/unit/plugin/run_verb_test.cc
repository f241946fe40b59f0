// SPDX-License-Identifier: Apache-2.0
// --watch with recorded results of kubectl: when the list is printed again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs_scene.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

struct Watched {
  std::vector<std::string> printed;
  int rounds = 0;
};

class PluginWatch : public PluginVerbs {
 protected:
  // Until the second text. `before_round` gets the number of the round of requests: a list needs
  // two, and one more if it searches for the operator.
  Watched watch(const std::vector<std::string>& words,
                const std::function<void(int round)>& before_round) {
    Watched watched;
    kubectl.before_round = [&] { before_round(++watched.rounds); };
    const auto arguments = parse_arguments(words, {});
    if (!arguments) return watched;
    const auto status = run_verb(*arguments, context(), [&](const std::string& text) -> Status {
      watched.printed.push_back(text);
      if (watched.printed.size() == 2) return Error{Code::system, "closed pipe"};
      return Done{};
    });
    EXPECT_FALSE(status);
    watched.printed.resize(2);
    return watched;
  }
};

TEST_F(PluginWatch, PrintsAgainOnlyAfterAChange) {
  const auto seen = watch({"-w", "-n", "shop", "-o", "name"}, [&](int round) {
    if (round == 7) kubectl.results["get cronjobs"] = R"({"items":[]})";  // the fourth list
  });
  EXPECT_EQ(seen.rounds, 8);
  EXPECT_THAT(seen.printed[0], HasSubstr("cronjob.batch/nightly\n"));
  EXPECT_EQ(seen.printed[1], "");
}

TEST_F(PluginWatch, PrintsNothingAfterTheRenewalOfALease) {
  const auto status_page = [](const std::string& holder, const std::string& expires) {
    return R"({"v":1,"store":{"up":true},"locks":[{"lock":"shop/nightly","state":"held","holder":")" +
           holder + R"(","expires":")" + expires + R"("}]})";
  };
  const auto seen = watch({"-w", "-n", "shop"}, [&](int round) {
    kubectl.results["/proxy/status"] =
        status_page(round < 7 ? "shop/a" : "shop/b",
                    round < 5 ? "2026-11-22T06:28:10Z" : "2026-11-22T06:28:20Z");
  });
  EXPECT_EQ(seen.rounds, 8);
  EXPECT_THAT(seen.printed[0], HasSubstr("shop/a"));
  EXPECT_THAT(seen.printed[1], HasSubstr("shop/b"));
}

// The line about the outage contains the age of the state.
TEST_F(PluginWatch, PrintsNothingWhileAnOutageLasts) {
  const auto seen = watch({"-w", "-n", "shop"}, [&](int round) {
    const std::string read = std::to_string(27 - round);  // the state becomes older
    kubectl.results["/proxy/status"] =
        round < 7 ? R"({"v":1,"store":{"up":false,"read":"2026-11-22T06:)" + read +
                        R"(:00Z","error":"no answer"},"locks":[]})"
                  : std::string(R"({"v":1,"store":{"up":true},"locks":[]})");
  });
  EXPECT_EQ(seen.rounds, 8);
  EXPECT_THAT(seen.printed[0], HasSubstr("no answer"));
  EXPECT_THAT(seen.printed[1], ::testing::Not(HasSubstr("no answer")));
}

TEST_F(PluginWatch, ContinuesAfterAListThatFailed) {
  const auto seen = watch({"-w", "-n", "shop", "--status", "none"}, [&](int round) {
    if (round == 3) kubectl.results.erase("get cronjobs");  // the second list, and the third
    if (round == 5) kubectl.results["get cronjobs"] = R"({"items":[]})";
  });
  EXPECT_THAT(seen.printed[0], HasSubstr("nightly"));
  EXPECT_THAT(seen.printed[1], HasSubstr("no gated CronJob"));
  const std::string reported = "kubectl could not get CronJobs";
  EXPECT_THAT(progress, HasSubstr(reported));
  EXPECT_EQ(progress.find(reported), progress.rfind(reported)) << "once: " << progress;
  EXPECT_THAT(progress, ::testing::Not(HasSubstr("cronlatch: "))) << "main adds it";
}

TEST_F(PluginWatch, PrintsAnOutageAlsoBesideTheNoteOnOtherOperators) {
  kubectl.results["get services"] = R"({"items":[
      {"metadata":{"namespace":"ops","name":"x-metrics"},"spec":{"ports":[{"port":8080}]}},
      {"metadata":{"namespace":"team","name":"y-metrics"},"spec":{"ports":[{"port":8080}]}}]})";
  const auto seen = watch({"-w", "-n", "shop"}, [&](int round) {
    kubectl.results["/proxy/status"] =
        round < 7 ? R"({"v":1,"store":{"up":true},"locks":[]})"
                  : R"({"v":1,"store":{"up":false,"error":"no answer"},"locks":[]})";
  });
  EXPECT_THAT(seen.printed[0], ::testing::Not(HasSubstr("no answer")));
  EXPECT_THAT(seen.printed[1], HasSubstr("no answer"));
  for (const std::string& text : seen.printed) EXPECT_THAT(text, HasSubstr("ops/x-metrics"));
}

}  // namespace
}  // namespace cronlatch::plugin
