// SPDX-License-Identifier: Apache-2.0
// The verbs with recorded results of kubectl: the order of its calls, the effect of a release, and
// --watch.
#include "plugin/run_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

struct StillClock final : Clock {
  mutable TimePoint t{};
  TimePoint now() const override { return t; }
  WallTime wall() const override { return recorded_at(); }
};

// Returns the text of the longest key that the arguments of a call contain; otherwise NotFound.
class RecordedKubectl final : public Kubectl {
 public:
  Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>& batch) override {
    std::vector<KubectlResult> out;
    if (before_round) before_round();
    ++rounds;
    for (const KubectlCall& call : batch) {
      std::string words;
      for (const std::string& word : call.args) words += (words.empty() ? "" : " ") + word;
      calls.push_back(words);
      if (!call.input.empty()) inputs.push_back(call.input);
      KubectlResult result{1, "", log_lines + "Error from server (NotFound): " + words};
      std::size_t matched = 0;
      for (const auto& [key, text] : results)
        if (words.find(key) != std::string::npos && key.size() > matched) {
          matched = key.size();
          result = {0, text, ""};
        }
      out.push_back(result);
    }
    return out;
  }
  std::map<std::string, std::string> results = {{"get cronjobs", recorded_text("shop-cronjobs")},
                                                {"get pods", recorded_text("shop-pods")},
                                                {"get jobs", recorded_text("shop-jobs")},
                                                {"get events", recorded_text("shop-events")},
                                                {"get services", R"({"items":[]})"}};
  std::vector<std::string> calls, inputs;
  std::string log_lines;  // on standard error, before the error message
  std::function<void()> before_round;
  int rounds = 0;
};

class PluginVerbs : public ::testing::Test {
 protected:
  Result<Output> run(std::vector<std::string> words) {
    const auto arguments = parse_arguments(words, {});
    if (!arguments) return arguments.error();
    return arguments->verb->function(*arguments, context());
  }
  Context context() {
    return {kubectl, clock,
            [](const std::string& name) -> Result<Zone> { return recorded_zone(name); },
            [this](const std::string& line) { progress += line + '\n'; },
            [this](Millis d) { clock.t += d; }};
  }
  RecordedKubectl kubectl;
  StillClock clock;
  std::string progress;
};

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

TEST_F(PluginVerbs, ReleaseRefusesAPasswordInTheStore) {
  kubectl.results["--dry-run=server"] = "job.batch/x";
  const auto page = run({"release", "nightly", "-n", "shop", "--dry-run", "--image", "i", "--store",
                         "rediss://u:sesame@h"});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::usage);
  EXPECT_THAT(page.error().message, ::testing::Not(HasSubstr("sesame")));
  EXPECT_TRUE(kubectl.inputs.empty());
}

TEST_F(PluginVerbs, AMissingCronJobIsAnErrorWithItsName) {
  const auto page = run({"describe", "nigthly", "-n", "shop"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("\"nigthly\" does not exist in namespace shop"));
}

TEST_F(PluginVerbs, ReleaseWithoutForceNamesTheHolderAndChangesNothing) {
  const auto page = run({"release", "nightly", "-n", "shop"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("shop/nightly-holds-ppx9d"));
  EXPECT_THAT(page.error().hint, HasSubstr("release nightly -n shop --force"));
  EXPECT_TRUE(kubectl.inputs.empty());
}

TEST_F(PluginVerbs, DryRunCreatesNothing) {
  kubectl.results["--dry-run=server"] = "job.batch/x";
  const auto page = run({"release", "nightly", "-n", "shop", "--dry-run"});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(kubectl.calls.back(), "create --dry-run=server -f - -o name");
  EXPECT_THAT(progress, HasSubstr("the API server accepts the Job"));
}

TEST_F(PluginVerbs, ReleaseCreatesAJobWaitsAndPrintsItsOutput) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.results["get job cronlatch-release-abc"] =
      R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})";
  kubectl.results["logs job/cronlatch-release-abc"] = "lock shop/nightly: revoked\n";
  kubectl.results["delete job"] = "";

  const auto page = run({"release", "nightly", "-n", "shop", "--force"});

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->sections.front().lines.front(), "lock shop/nightly: revoked");
  EXPECT_EQ(page->exit_code, 0);
  EXPECT_THAT(kubectl.calls.back(), HasSubstr("delete job cronlatch-release-abc -n shop"));
}

TEST_F(PluginVerbs, ReleaseThatFailsReturnsExitCode1) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.results["get job cronlatch-release-abc"] =
      R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->exit_code, 1);
}

TEST_F(PluginVerbs, ReleaseReportsAJobWithoutAPod) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.results["get job cronlatch-release-abc"] = "{}";
  kubectl.results["batch.kubernetes.io/job-name=cronlatch-release-abc"] = R"({"items":[]})";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("it has no pod"));
}

// Without the right to read Jobs, or after another client deleted it, the wait would last an hour.
TEST_F(PluginVerbs, ReleaseEndsWhenItsJobCannotBeRead) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::unreachable);
  EXPECT_THAT(page.error().message,
              HasSubstr("its result is unknown: Error from server (NotFound)"));
  EXPECT_LT(clock.t, TimePoint(Seconds(10)));
}

TEST_F(PluginVerbs, ReleaseWithoutAGatedRunRequiresTheImage) {
  kubectl.results["get jobs"] = kubectl.results["get pods"] = R"({"items":[]})";
  const auto refused = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("--image IMAGE --store URL"));
  kubectl.results["--dry-run=server"] = "job.batch/x";
  EXPECT_TRUE(run(
      {"release", "nightly", "-n", "shop", "--dry-run", "--image", "i", "--store", "redis://r"}));
}

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

// ---- --watch ----

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
