// SPDX-License-Identifier: Apache-2.0
// Objects that an uninstall leaves, and CronJobs that still request a lock.
#include "plugin/uninstall_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/annotation_copy.h"
#include "labels/names.h"
#include "no_cluster.h"
#include "plugin/verb.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Json kLock = {{"annotations", {{"cronlatch.dev/lock", "true"}}}};
const Json kNone = Json::object();

Json cronjob(const std::string& name, const Json& own, const Json& job_template,
             const Json& pods = kNone) {
  Json metadata = own;
  metadata["namespace"] = "shop";
  metadata["name"] = name;
  return {{"metadata", metadata},
          {"spec",
           {{"jobTemplate",
             {{"metadata", job_template}, {"spec", {{"template", {{"metadata", pods}}}}}}}}}};
}

Json object(const std::string& kind, const std::string& name, Json spec = Json::object(),
            const std::string& release = "cronlatch") {
  return {{"kind", kind},
          {"metadata", {{"name", name}, {"labels", {{"app.kubernetes.io/instance", release}}}}},
          {"spec", std::move(spec)}};
}
Json policy(const std::string& name, const std::string& resource, Json selector = Json::object(),
            const std::string& release = "cronlatch") {
  return object("ValidatingAdmissionPolicy", name,
                {{"matchConstraints",
                  {{"namespaceSelector", std::move(selector)},
                   {"resourceRules", Json::array({{{"resources", Json::array({resource})}}})}}}},
                release);
}
Json binding(const std::string& name, const std::string& action,
             const std::string& release = "cronlatch") {
  return object("ValidatingAdmissionPolicyBinding", name,
                {{"policyName", name}, {"validationActions", Json::array({action})}}, release);
}
Json installed(const std::string& release = "cronlatch") {
  return {{"metadata",
           {{"namespace", "cronlatch"},
            {"name", release + "-operator"},
            {"labels", {{"app.kubernetes.io/instance", release}}}}}};
}
Json list(std::vector<Json> items) { return {{"items", std::move(items)}}; }
const std::vector<Json> kPolicies = {policy("cronlatch-gated-jobs", "jobs"),
                                     binding("cronlatch-gated-jobs", "Deny"),
                                     policy("cronlatch-mirrored-cronjobs", "cronjobs"),
                                     binding("cronlatch-mirrored-cronjobs", "Deny")};

std::string text_of(const Output& page) {
  std::string text;
  for (const Section& section : page.sections) {
    text += section.title + '\n';
    for (const Row& row : section.table)
      for (const std::string& cell : row) text += cell + '\n';
    for (const std::string& line : section.lines) text += line + '\n';
  }
  return text;
}

// The next list does not contain objects that were deleted.
class ClusterKubectl final : public Kubectl {
 public:
  Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>& calls) override {
    std::vector<KubectlResult> answers;
    for (const KubectlCall& call : calls) answers.push_back(answer(call.args));
    return answers;
  }
  std::vector<Json> cronjobs, deployments, objects;
  std::vector<std::string> deleted;
  std::string forbidden;  // the kinds that cannot be listed

 private:
  KubectlResult answer(const std::vector<std::string>& args) {
    if (args[0] == "delete") {
      deleted.assign(args.begin() + 2, args.end());
      objects.clear();
      return {};
    }
    if (args[1] == forbidden) return {1, "", "Forbidden"};
    const auto& items = args[1] == "cronjobs"      ? cronjobs
                        : args[1] == "deployments" ? deployments
                                                   : objects;
    return {0, kube::to_text(list(items)), ""};
  }
};

class UninstallCheck : public ::testing::Test {
 protected:
  Result<Output> run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"uninstall-check"};
    args.insert(args.end(), more.begin(), more.end());
    const auto arguments = parse_arguments(args, {});
    if (!arguments) return arguments.error();
    return arguments->verb->function(*arguments,
                                     {kubectl, clock, [](const std::string&) { return Zone{}; },
                                      [](const std::string&) {}, [](Millis) {}});
  }
  ClusterKubectl kubectl;
  NoClock clock;
};

TEST_F(UninstallCheck, FindsTheAnnotationInEachOfTheThreePlacesAndNoOther) {
  const Json no_lock = {{"annotations", {{"cronlatch.dev/lock", "false"}}}};
  kubectl.cronjobs = {cronjob("on-itself", kLock, kNone), cronjob("on-jobs", kNone, kLock),
                      cronjob("on-pods", kNone, kNone, kLock), cronjob("no", no_lock, no_lock),
                      cronjob("plain", kNone, kNone)};

  const auto page = run();

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->exit_code, 1);
  std::vector<std::string> names;
  for (const Json& one : page->json["cronjobs"]) names.push_back(one["cronjob"]);
  EXPECT_THAT(names, ElementsAre("on-itself", "on-jobs", "on-pods"));
}

TEST_F(UninstallCheck, WithoutTheOperatorTheKeptPolicyRefusesTheJobs) {
  kubectl.cronjobs = {cronjob("nightly", kLock, kLock)};
  kubectl.objects = kPolicies;

  const auto page = run();

  EXPECT_EQ(page->exit_code, 1);
  EXPECT_EQ(page->json["cronjobs"][0]["without_operator"],
            "refused by policy cronlatch-gated-jobs");
  EXPECT_THAT(text_of(*page), HasSubstr("operator: not installed"));
}

TEST_F(UninstallCheck, ReportsJobsThatRunWithoutALock) {
  const auto outcome = [&] { return run()->json["cronjobs"][0]["without_operator"]; };
  kubectl.cronjobs = {cronjob("nightly", kLock, kLock)};
  EXPECT_THAT(outcome(), HasSubstr("run without a lock: no policy refuses them"));
  kubectl.objects = {policy("cronlatch-gated-jobs", "jobs"),
                     binding("cronlatch-gated-jobs", "Warn")};
  EXPECT_THAT(outcome(), HasSubstr("no policy refuses them"));
  kubectl.objects = {policy("cronlatch-mirrored-cronjobs", "cronjobs"),
                     binding("cronlatch-mirrored-cronjobs", "Deny")};
  EXPECT_THAT(outcome(), HasSubstr("no policy refuses them"));
  kubectl.objects = {policy("p", "jobs", {{"matchLabels", {{"team", "a"}}}}), binding("p", "Deny")};
  EXPECT_THAT(outcome(), HasSubstr("in the namespaces that it selects"));
  kubectl.cronjobs = {cronjob("nightly", kLock, kNone)};
  EXPECT_THAT(outcome(), HasSubstr("the annotation is not copied to them"));
}

TEST_F(UninstallCheck, TheCommandRemovesTheLockFromThePlacesThatHaveIt) {
  kubectl.cronjobs = {cronjob("nightly", kLock, kLock), cronjob("pods", kNone, kNone, kLock)};

  const auto page = run();

  EXPECT_EQ(
      page->json["cronjobs"][0]["remove_lock"],
      R"(kubectl -n shop patch cronjob nightly --type=merge -p '{"metadata":{"annotations":{"cronlatch.dev/lock":null}},"spec":{"jobTemplate":{"metadata":{"annotations":{"cronlatch.dev/lock":null}}}}}')");
  EXPECT_EQ(
      page->json["cronjobs"][1]["remove_lock"],
      R"(kubectl -n shop patch cronjob pods --type=merge -p '{"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"annotations":{"cronlatch.dev/lock":null}}}}}}}')");
}

TEST_F(UninstallCheck, ASelectedCronJobIsChosenByAValueOfTheChart) {
  Json copied = kLock;
  copied["annotations"][std::string(kCopiedKeysAnnotation)] = "lock,ttl";
  kubectl.cronjobs = {cronjob("nightly", kNone, copied)};
  kubectl.deployments = {installed()};
  EXPECT_THAT(text_of(*run()), HasSubstr("the chart's value `select`"));
  kubectl.cronjobs = {cronjob("nightly", kLock, copied)};
  EXPECT_THAT(text_of(*run()), Not(HasSubstr("`select`")));
  // The kept policies contain the rule: they refuse an update that removes its annotations.
  kubectl.cronjobs = {cronjob("nightly", kNone, copied)};
  kubectl.deployments = {};
  kubectl.objects = kPolicies;
  EXPECT_THAT(text_of(*run()), HasSubstr("delete the policies (kubectl delete"));
}

TEST_F(UninstallCheck, NothingIsDeletedWhileACronJobRequestsALock) {
  kubectl.cronjobs = {cronjob("nightly", kLock, kLock)};
  kubectl.objects = kPolicies;

  const auto page = run({"--remove"});

  EXPECT_EQ(page->exit_code, 1);
  EXPECT_THAT(kubectl.deleted, IsEmpty());
  EXPECT_THAT(text_of(*page), HasSubstr("nothing was deleted: CronJobs request a lock (1)"));
}

TEST_F(UninstallCheck, NothingIsDeletedOfAnInstalledRelease) {
  kubectl.deployments = {installed()};
  kubectl.objects = kPolicies;

  const auto page = run({"--remove"});

  EXPECT_EQ(page->exit_code, 1);
  EXPECT_THAT(kubectl.deleted, IsEmpty());
  EXPECT_THAT(text_of(*page), HasSubstr("helm uninstall cronlatch -n cronlatch"));
}

TEST_F(UninstallCheck, WhatWasKeptIsDeletedWhenNoCronJobAsksForALock) {
  kubectl.objects = kPolicies;
  EXPECT_EQ(run()->exit_code, 0);
  EXPECT_THAT(text_of(*run()), HasSubstr("uninstall-check --remove"));

  const auto page = run({"--remove"});

  EXPECT_EQ(page->exit_code, 0);
  EXPECT_EQ(page->json["removed"], true);
  EXPECT_THAT(kubectl.deleted,
              ElementsAre("validatingadmissionpolicybinding/cronlatch-gated-jobs",
                          "validatingadmissionpolicybinding/cronlatch-mirrored-cronjobs",
                          "validatingadmissionpolicy/cronlatch-gated-jobs",
                          "validatingadmissionpolicy/cronlatch-mirrored-cronjobs"));
}

TEST_F(UninstallCheck, PoliciesOfAnEarlierReleaseGoWhenTheInstalledOneHasItsOwn) {
  kubectl.cronjobs = {cronjob("nightly", kLock, kLock)};
  kubectl.deployments = {installed("other")};
  kubectl.objects = kPolicies;
  EXPECT_EQ(run({"--remove"})->exit_code, 1);
  EXPECT_THAT(kubectl.deleted, IsEmpty());

  kubectl.objects.push_back(policy("other-gated-jobs", "jobs", Json::object(), "other"));
  kubectl.objects.push_back(binding("other-gated-jobs", "Deny", "other"));
  ASSERT_TRUE(run({"--remove"}));
  EXPECT_THAT(kubectl.deleted, Contains("validatingadmissionpolicy/cronlatch-gated-jobs"));
  EXPECT_THAT(kubectl.deleted, Not(Contains(HasSubstr("other"))));
}

TEST_F(UninstallCheck, AListThatCannotBeReadIsAnError) {
  for (const std::string kind : {"cronjobs", "deployments",
                                 "mutatingwebhookconfigurations,validatingadmissionpolicies,"
                                 "validatingadmissionpolicybindings"}) {
    kubectl.forbidden = kind;
    const auto page = run({"--remove"});
    ASSERT_FALSE(page) << kind;
    EXPECT_THAT(page.error().message, HasSubstr("of the whole cluster"));
    EXPECT_THAT(kubectl.deleted, IsEmpty());
  }
}

TEST_F(UninstallCheck, ReadsTheWholeCluster) {
  EXPECT_FALSE(run({"-n", "shop"}));
  EXPECT_FALSE(run({"name"}));
  EXPECT_TRUE(run({"-A"}));
  EXPECT_FALSE(parse_arguments(std::vector<std::string>{"ls", "--remove"}, {}));
}

}  // namespace
}  // namespace cronlatch::plugin
