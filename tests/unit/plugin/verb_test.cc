// SPDX-License-Identifier: Apache-2.0
// The verbs that read: the order of the calls of kubectl, the status page, and what cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs_scene.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

TEST_F(PluginVerbs, ListReadsTwoRoundsAndOmitsAMissingStatusPage) {
  const auto page = run({"-n", "shop"});

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(kubectl.rounds, 2);
  EXPECT_EQ(kubectl.calls[0], "get cronjobs -o json -n shop");
  EXPECT_THAT(page->json["caution"], HasSubstr("NotFound"));
  EXPECT_EQ(page->json["cronjobs"].size(), 3u);
}

TEST_F(PluginVerbs, StatusPageIsFoundByTheLabelsOfItsService) {
  kubectl.results["get services"] =
      R"({"items":[{"metadata":{"namespace":"ops","name":"x-metrics"},"spec":{"ports":[{"port":8081}]}}]})";
  kubectl.results["/namespaces/ops/services/http:x-metrics:8081/proxy/status"] =
      R"({"v":1,"store":{"up":true},"locks":[{"lock":"shop/nightly","state":"free"}]})";

  const auto page = run({});

  ASSERT_TRUE(page);
  EXPECT_EQ(kubectl.rounds, 3);
  EXPECT_EQ(page->json["caution"], nullptr);
  // The label of the chart's Service, and that of version 0.1.0.
  EXPECT_THAT(
      kubectl.calls,
      ::testing::Contains(HasSubstr("cronlatch.dev/port in (http-metrics,https-metrics,plain)")));
}

// Each may have another store: a lock of the other one would be displayed as free.
TEST_F(PluginVerbs, OfSeveralOperatorsTheOneWhoseStateIsDisplayedIsNamed) {
  kubectl.results["get services"] = R"({"items":[
      {"metadata":{"namespace":"ops","name":"x-metrics"},"spec":{"ports":[{"port":8080}]}},
      {"metadata":{"namespace":"team","name":"y-metrics"},"spec":{"ports":[{"port":8080}]}}]})";
  const char page_text[] = R"({"v":1,"store":{"up":true},"locks":[]})";
  kubectl.results["/namespaces/ops/services/http:x-metrics:8080/proxy/status"] = page_text;
  kubectl.results["/namespaces/team/services/http:y-metrics:8080/proxy/status"] = page_text;

  const auto first = run({});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->json["caution"], nullptr);
  EXPECT_EQ(first->json["note"],
            "the state is that of the operator ops/x-metrics; for another, use --status: "
            "team/y-metrics");

  const auto other = run({"--status", "team/y-metrics"});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->json["note"], nullptr);
}

// ---- a page that requires a token ----

constexpr char kPageText[] =
    R"({"v":1,"store":{"up":true},"locks":[{"lock":"shop/nightly","state":"free"}]})";

std::string protected_service(const std::string& namespace_name, const std::string& account) {
  return R"({"metadata":{"namespace":")" + namespace_name +
         R"(","name":"cronlatch-metrics","annotations":{"cronlatch.dev/status-account":")" +
         account + R"("}},"spec":{"ports":[{"port":8080}]}})";
}

TEST_F(PluginVerbs, APageThatRequiresATokenGetsItInTheBody) {
  kubectl.results["get services"] =
      R"({"items":[)" + protected_service("cronlatch", "cronlatch-status") + "]}";
  kubectl.results["create token"] = "eyJ.secret\n";
  kubectl.results["/services/https:cronlatch-metrics:8080/proxy/status"] = kPageText;

  const auto page = run({});

  ASSERT_TRUE(page);
  EXPECT_EQ(page->json["caution"], nullptr);
  EXPECT_EQ(kubectl.rounds, 4);
  ASSERT_GE(kubectl.calls.size(), 2u);
  EXPECT_EQ(kubectl.calls[kubectl.calls.size() - 2],
            "create token cronlatch-status -n cronlatch --audience=status.cronlatch.dev "
            "--duration=10m");
  EXPECT_EQ(kubectl.calls.back(),
            "create --raw /api/v1/namespaces/cronlatch/services/https:cronlatch-metrics:8080/proxy/"
            "status -f -");
  EXPECT_THAT(kubectl.inputs, ::testing::ElementsAre(R"({"token":"eyJ.secret"})"));
  EXPECT_THAT(kubectl.calls, ::testing::Each(::testing::Not(HasSubstr("eyJ"))));
}

TEST_F(PluginVerbs, WithoutTheRightToListServicesTheUsualServiceIsRead) {
  kubectl.results.erase("get services");
  kubectl.results["get service cronlatch-metrics -n cronlatch"] =
      protected_service("cronlatch", "cronlatch-status");
  kubectl.results["create token"] = "eyJ.secret\n";
  kubectl.results["/services/https:"] = kPageText;
  const auto page = run({});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->json["caution"], nullptr);
}

TEST_F(PluginVerbs, TheServiceOfTheStatusFlagMayRequireAToken) {
  kubectl.results["get service cronlatch-metrics -n ops"] =
      protected_service("ops", "other-status");
  kubectl.results["create token other-status -n ops"] = "eyJ.secret\n";
  kubectl.results["/namespaces/ops/services/https:cronlatch-metrics:8080/"] = kPageText;
  const auto page = run({"--status", "ops/cronlatch-metrics"});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->json["caution"], nullptr);
}

TEST_F(PluginVerbs, ARefusedTokenIsTheReasonWithTheServiceAccount) {
  kubectl.results["get services"] =
      R"({"items":[)" + protected_service("cronlatch", "cronlatch-status") + "]}";
  const auto page = run({});
  ASSERT_TRUE(page);
  EXPECT_THAT(page->json["caution"],
              HasSubstr("requires a token of ServiceAccount cronlatch/cronlatch-status: Error"));
  EXPECT_TRUE(kubectl.inputs.empty());
}

TEST_F(PluginVerbs, AnAccountThatIsNoNameIsNotAnArgument) {
  kubectl.results["get services"] =
      R"({"items":[)" + protected_service("ops", "--kubeconfig=/tmp/x") + "]}";
  ASSERT_TRUE(run({}));
  EXPECT_THAT(kubectl.calls, ::testing::Each(::testing::Not(HasSubstr("create token"))));
}

TEST_F(PluginVerbs, StatusFlagSetsOrDisablesTheStatusPage) {
  ASSERT_TRUE(run({"--status", "ops/x:1"}));
  EXPECT_THAT(kubectl.calls, ::testing::Contains(HasSubstr("/namespaces/ops/services/http:x:1/")));
  kubectl.calls.clear();
  ASSERT_TRUE(run({"--status=none"}));
  EXPECT_THAT(kubectl.calls, ::testing::Not(::testing::Contains(HasSubstr("proxy"))));
  EXPECT_FALSE(run({"--status", "nonsense"}));
}

TEST_F(PluginVerbs, AForbiddenListIsOmittedAndReported) {
  kubectl.results.erase("get events");
  ASSERT_TRUE(run({"why", "nightly", "-n", "shop"}));
  EXPECT_THAT(progress, HasSubstr("omitted: Error from server (NotFound): get events"));
  kubectl.results.erase("get cronjobs");
  EXPECT_FALSE(run({"-n", "shop"}));
}

TEST_F(PluginVerbs, AListThatCouldNotBeReadIsNoFact) {
  const auto cause_without = [&](const std::string& list, const std::string& cronjob) {
    const std::string before = std::exchange(kubectl.results["get " + list], "");
    kubectl.results.erase("get " + list);
    const auto why = run({"why", cronjob, "-n", "shop"});
    kubectl.results["get " + list] = before;
    return why ? why->json : kube::Json();
  };
  for (const auto& [list, name] : {std::pair{"pods", "pods"}, {"jobs", "Jobs"}}) {
    const kube::Json why = cause_without(list, "nightly");
    EXPECT_EQ(why["unreadable"], kube::Json{name});
    EXPECT_EQ(why["findings"][0]["code"], "unreadable") << list;
  }
  EXPECT_EQ(cause_without("events", "nightly")["unreadable"], kube::Json{"Events"});

  for (const char* list : {"get pods", "get events", "get jobs"}) kubectl.results.erase(list);
  const auto listed = run({"-n", "shop"});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->json["cronjobs"][0]["state"], "unknown");
  const auto release = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(release);
  EXPECT_THAT(release.error().message, HasSubstr("that this user may read (Error from server"));
}

TEST_F(PluginVerbs, AMissingCronJobIsAnErrorWithItsName) {
  const auto page = run({"describe", "nigthly", "-n", "shop"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("\"nigthly\" does not exist in namespace shop"));
}

// Without the right to read Jobs, or after another client deleted it, the wait would last an hour.
TEST_F(PluginVerbs, SelectorIsPassedToTheListOfCronJobsOnly) {
  ASSERT_TRUE(run({"-n", "shop", "-l", "team=a"}));
  EXPECT_EQ(kubectl.calls[0], "get cronjobs -o json -n shop -l team=a");
  for (std::size_t i = 1; i < kubectl.calls.size(); ++i)
    EXPECT_THAT(kubectl.calls[i], ::testing::Not(HasSubstr("team=a")));
}

TEST_F(PluginVerbs, ErrorMessageOfKubectlIsFoundBehindItsLogLines) {
  kubectl.log_lines = "I1122 06:27:40.000000 1 loader.go:395] Config loaded\n";
  ASSERT_TRUE(run({"why", "nightly", "-n", "shop", "-v", "6"}));
  kubectl.results.erase("get events");
  ASSERT_TRUE(run({"why", "nightly", "-n", "shop", "-v", "6"}));
  EXPECT_THAT(progress, HasSubstr("omitted: Error from server (NotFound): get events"));
}

}  // namespace
}  // namespace cronlatch::plugin
