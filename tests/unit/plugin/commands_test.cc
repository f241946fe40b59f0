// SPDX-License-Identifier: Apache-2.0
// The order of kubectl's calls: answers recorded from a real one, asked for by their words. What a
// release would do, and what it does.
#include "plugin/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/release_plan.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

struct StillClock final : Clock {
  mutable TimePoint t{};
  TimePoint now() const override { return t; }
  WallTime wall() const override { return recorded_at(); }
};

// Knows what to answer to a call whose words contain the key, the longest first; everything else is
// not found.
class RecordedKubectl final : public Kubectl {
 public:
  Result<std::vector<KubectlAnswer>> ask(const std::vector<KubectlCall>& calls) override {
    std::vector<KubectlAnswer> out;
    ++rounds;
    for (const KubectlCall& call : calls) {
      std::string words;
      for (const std::string& word : call.words) words += (words.empty() ? "" : " ") + word;
      asked.push_back(words);
      if (!call.input.empty()) inputs.push_back(call.input);
      KubectlAnswer answer{1, "", "Error from server (NotFound): " + words};
      std::size_t matched = 0;
      for (const auto& [key, text] : answers)
        if (words.find(key) != std::string::npos && key.size() > matched) {
          matched = key.size();
          answer = {0, text, ""};
        }
      out.push_back(answer);
    }
    return out;
  }
  std::map<std::string, std::string> answers = {{"get cronjobs", recorded_text("shop-cronjobs")},
                                                {"get pods", recorded_text("shop-pods")},
                                                {"get jobs", recorded_text("shop-jobs")},
                                                {"get events", recorded_text("shop-events")}};
  std::vector<std::string> asked, inputs;
  int rounds = 0;
};

class PluginCommands : public ::testing::Test {
 protected:
  Result<Page> run(std::vector<std::string> words) {
    const auto arguments = parse_arguments(words, {});
    if (!arguments) return arguments.error();
    const Surroundings around{
        kubectl, clock, [](const std::string& name) -> Result<Zone> { return recorded_zone(name); },
        [this](const std::string& line) { said += line + '\n'; },
        [this](Millis d) { clock.t += d; }};
    return run_plugin(*arguments, around);
  }
  RecordedKubectl kubectl;
  StillClock clock;
  std::string said;
};

TEST_F(PluginCommands, AListTakesTwoRoundsAndGoesOnWithoutThePage) {
  const auto page = run({"-n", "shop"});

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(kubectl.rounds, 2);
  EXPECT_EQ(kubectl.asked[0], "get cronjobs -o json -n shop");
  EXPECT_THAT(page->json["caution"], HasSubstr("NotFound"));
  EXPECT_EQ(page->json["cronjobs"].size(), 3u);
}

TEST_F(PluginCommands, ThePageIsFoundByItsServicesLabelInAnyNamespace) {
  kubectl.answers["get services"] =
      R"({"items":[{"metadata":{"namespace":"ops","name":"x-metrics"},"spec":{"ports":[{"port":8081}]}}]})";
  kubectl.answers["/namespaces/ops/services/http:x-metrics:8081/proxy/status"] =
      R"({"v":1,"store":{"up":true},"locks":[{"lock":"shop/nightly","state":"free"}]})";

  const auto page = run({});

  ASSERT_TRUE(page);
  EXPECT_EQ(kubectl.rounds, 3);
  EXPECT_EQ(page->json["caution"], nullptr);
}

TEST_F(PluginCommands, ThePageCanBeNamedOrLeftOut) {
  ASSERT_TRUE(run({"--status", "ops/x:1"}));
  EXPECT_THAT(kubectl.asked, ::testing::Contains(HasSubstr("/namespaces/ops/services/http:x:1/")));
  kubectl.asked.clear();
  ASSERT_TRUE(run({"--status=none"}));
  EXPECT_THAT(kubectl.asked, ::testing::Not(::testing::Contains(HasSubstr("proxy"))));
  EXPECT_FALSE(run({"--status", "nonsense"}));
}

TEST_F(PluginCommands, WhatIsForbiddenIsDoneWithout) {
  kubectl.answers.erase("get events");
  ASSERT_TRUE(run({"why", "nightly", "-n", "shop"}));
  EXPECT_THAT(said, HasSubstr("going on without: Error from server (NotFound): get events"));
  kubectl.answers.erase("get cronjobs");
  EXPECT_FALSE(run({"-n", "shop"}));
}

TEST_F(PluginCommands, AnUnknownCronJobIsNamed) {
  const auto page = run({"describe", "nigthly", "-n", "shop"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("\"nigthly\" in namespace shop"));
}

TEST_F(PluginCommands, AReleaseWithoutForceSaysWhoWouldStop) {
  const auto page = run({"release", "nightly", "-n", "shop"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("shop/nightly-holds-ppx9d"));
  EXPECT_THAT(page.error().hint, HasSubstr("release nightly -n shop --force"));
  EXPECT_TRUE(kubectl.inputs.empty());
}

TEST(PluginRelease, NamesTheMinHoldThatKeepsALockClosed) {
  Cluster cluster = recorded();
  StatusPage page;
  LiveLock& lock = page.locks["shop/nightly"];
  lock.state = "cooling";
  lock.holder = "shop/nightly-29-abc";
  lock.expires = parse_rfc3339("2026-11-22T06:30:00Z").value();
  cluster.page = page;

  EXPECT_TRUE(is_cooling(cluster, "shop/nightly"));
  EXPECT_EQ(holder_words(cluster, "shop/nightly"),
            "released by shop/nightly-29-abc, closed by its min-hold until 2026-11-22T06:30:00Z");
  EXPECT_FALSE(is_cooling(cluster, "shop/other"));
}

TEST_F(PluginCommands, ADryRunCreatesNothing) {
  kubectl.answers["--dry-run=server"] = "job.batch/x";
  const auto page = run({"release", "nightly", "-n", "shop", "--dry-run"});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(kubectl.asked.back(), "create --dry-run=server -f - -o name");
  EXPECT_THAT(said, HasSubstr("would accept it"));
}

TEST_F(PluginCommands, AReleaseCreatesAJobWaitsAndShowsItsWords) {
  kubectl.answers["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.answers["get job cronlatch-release-abc"] =
      R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})";
  kubectl.answers["logs job/cronlatch-release-abc"] = "lock shop/nightly: revoked\n";
  kubectl.answers["delete job"] = "";

  const auto page = run({"release", "nightly", "-n", "shop", "--force"});

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->blocks.front().lines.front(), "lock shop/nightly: revoked");
  EXPECT_EQ(page->exit_code, 0);
  EXPECT_THAT(kubectl.asked.back(), HasSubstr("delete job cronlatch-release-abc -n shop"));
}

TEST_F(PluginCommands, AReleaseThatFailsIsAnErrorForScripts) {
  kubectl.answers["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.answers["get job cronlatch-release-abc"] =
      R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->exit_code, 1);
}

TEST_F(PluginCommands, AReleaseWhosePodCannotRunDoesNotWaitForEver) {
  kubectl.answers["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.answers["get job cronlatch-release-abc"] = "{}";
  kubectl.answers["batch.kubernetes.io/job-name=cronlatch-release-abc"] = R"({"items":[]})";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("no pod was made"));
}

TEST_F(PluginCommands, WithoutAGatedRunTheImageMustBeNamed) {
  kubectl.answers["get jobs"] = kubectl.answers["get pods"] = R"({"items":[]})";
  const auto refused = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("--image IMAGE --store URL"));
  kubectl.answers["--dry-run=server"] = "job.batch/x";
  EXPECT_TRUE(run(
      {"release", "nightly", "-n", "shop", "--dry-run", "--image", "i", "--store", "redis://r"}));
}

TEST(ReleaseJob, IsRestrictedGoesAwayAndUsesTheNamespacesOwnAccess) {
  const auto jobs = kube::parse_json(recorded_text("shop-jobs")).value();
  std::optional<StoreAccess> access;
  for (const kube::Json& job : items_of(jobs))
    if (auto found = store_access(job["spec"]["template"]["spec"])) access = found;
  ASSERT_TRUE(access);

  const kube::Json job = release_job({"shop/nightly", "shop"}, *access, Waiting::until_free);

  const kube::Json& pod = job["spec"]["template"]["spec"];
  EXPECT_EQ(pod["containers"][0]["command"],
            kube::Json({"/cronlatch", "release", "shop/nightly", "--force", "--isolated",
                        "--store=rediss://redis.shop.svc.cluster.local.:6379",
                        "--credentials-dir=/var/run/secrets/cronlatch"}));
  EXPECT_EQ(pod["containers"][0]["image"], "registry.example/cronlatch:1");
  EXPECT_EQ(pod["volumes"][0]["secret"]["secretName"], "cronlatch-store");
  EXPECT_EQ(pod["securityContext"]["runAsNonRoot"], true);
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  EXPECT_GT(job["spec"]["ttlSecondsAfterFinished"], 0);
  EXPECT_GT(job["spec"]["activeDeadlineSeconds"], 3'600);
}

TEST(ReleaseTarget, IsACronJobOrALockWithItsSlash) {
  const Cluster cluster = recorded();
  EXPECT_EQ(release_target(cluster, "report", "shop")->lock, "shop/database");
  EXPECT_EQ(release_target(cluster, "bank/x", "shop")->namespace_name, "bank");
  EXPECT_EQ(release_target(cluster, "_cluster/x", "shop")->namespace_name, "shop");
  EXPECT_FALSE(release_target(cluster, "nobody", "shop"));
  EXPECT_FALSE(release_target(cluster, "bank/x;rm", "shop"));
}

TEST(PluginArguments, AreKubectlsManners) {
  const auto parsed = [](std::vector<std::string> words) { return parse_arguments(words, {}); };
  EXPECT_EQ(parsed({})->verb, Verb::ls);
  EXPECT_TRUE(parsed({"-A", "-owide"})->all_namespaces);
  EXPECT_EQ(parsed({"-A", "-owide"})->output, Output::wide);
  EXPECT_EQ(parsed({"-nshop"})->namespace_name, "shop");
  EXPECT_EQ(parsed({"why", "cronjob.batch/nightly"})->name, "nightly");
  EXPECT_EQ(parsed({"release", "shop/nightly"})->name, "shop/nightly");
  EXPECT_EQ(parsed({"--context", "c", "--as=me"})->cluster_flags,
            (std::vector<std::string>{"--context=c", "--as=me"}));
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"frobnicate"},
                                             {"--frob"},
                                             {"why"},
                                             {"why", "a", "b"},
                                             {"-o", "yaml"},
                                             {"-n"},
                                             {"ls", "x"},
                                             {"why", "x", "-A"},
                                             {"--force=maybe", "release", "x"}})
    EXPECT_FALSE(parsed(bad)) << bad.front();
  EXPECT_EQ(parse_arguments(std::vector<std::string>{},
                            std::vector<std::string>{"KUBECTL_CRONLATCH_STATUS=a/b:1"})
                ->status,
            "a/b:1");
}

}  // namespace
}  // namespace cronlatch::plugin
