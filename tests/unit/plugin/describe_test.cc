// SPDX-License-Identifier: Apache-2.0
// The command found in an image, and the annotation with the same command.
#include "plugin/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/lock_json.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using ::testing::HasSubstr;
using ::testing::Not;

// A CronJob and one Job of it, gated with `wrapper` and these args.
Cluster looked_up(const Json& args_of_cronjob, const Json& wrapper) {
  Json container = {{"name", "main"}, {"image", "pg:16"}};
  if (!args_of_cronjob.is_null()) container["args"] = args_of_cronjob;
  const auto pods = [](const Json& one) {
    return Json{{"template", {{"spec", {{"containers", Json::array({one})}}}}}};
  };
  Cluster cluster;
  cluster.now = recorded_at();
  cluster.zones = [](const std::string& name) -> Result<Zone> { return recorded_zone(name); };
  cluster.cronjobs.push_back(read_cronjob(
      {{"metadata",
        {{"name", "nightly"},
         {"namespace", "shop"},
         {"annotations", {{"cronlatch.dev/lock", "true"}}}}},
       {"spec", {{"schedule", "0 2 * * *"}, {"jobTemplate", {{"spec", pods(container)}}}}}}));
  container["command"] = wrapper;
  container["args"] = {"c"};
  Json spec = pods(container);
  spec["template"]["metadata"]["annotations"] = {
      {"cronlatch.dev/command-from", "docker.io/library/pg@sha256:aa"}};
  cluster.jobs.push_back(read_job({{"metadata",
                                    {{"name", "nightly-1"},
                                     {"namespace", "shop"},
                                     {"creationTimestamp", "2026-11-22T02:00:00Z"},
                                     {"ownerReferences", Json::array({{{"apiVersion", "batch/v1"},
                                                                       {"kind", "CronJob"},
                                                                       {"name", "nightly"},
                                                                       {"controller", true},
                                                                       {"uid", "u"}}})}}},
                                   {"spec", spec}}));
  return cluster;
}

std::string described(const Cluster& cluster) {
  std::string text;
  for (const Section& section : describe_output(cluster, cluster.cronjobs[0]).sections) {
    for (const Row& row : section.table)
      for (const std::string& cell : row) text += cell + "|";
    for (const std::string& line : section.lines) text += line + "\n";
  }
  return text;
}

const Json kWrapper = {"/cronlatch-bin/cronlatch", "run", "--isolated", "--", "/e", "it's"};

TEST(Describe, ContainsTheCommandOfTheImageAndAnAnnotationWithIt) {
  const std::string text = described(looked_up({}, kWrapper));
  EXPECT_THAT(text, HasSubstr("docker.io/library/pg@sha256:aa"));
  EXPECT_THAT(text, HasSubstr("kubectl -n shop annotate cronjob nightly "
                              R"(cronlatch.dev/command='["/e","it'\''s","c"]')"));
}

TEST(Describe, OmitsTheArgumentsOfTheContainerFromTheAnnotation) {
  const std::string text = described(looked_up({"c"}, kWrapper));
  EXPECT_THAT(text, HasSubstr(R"(cronlatch.dev/command='["/e","it'\''s"]')"));
}

TEST(Describe, ContainsTheCommandOfEachArchitecture) {
  const std::string text =
      described(looked_up({}, {"/cronlatch-bin/cronlatch", "run", "--isolated",
                               R"(--command-by-arch={"amd64":["/a"],"arm64":["/b"]})", "--"}));
  EXPECT_THAT(text, HasSubstr(R"({"amd64":["/a"],"arm64":["/b"]})"));
  EXPECT_THAT(text, Not(HasSubstr("annotate")));
}

TEST(Describe, ShowsTheCountersWithoutTheHistograms) {
  LockView view;
  view.lock = "shop/nightly";
  view.jobs["shop/nightly"].values = {
      {"acquired", 100}, {"wait_timeouts", 7}, {"hold_3", 100}, {"wait_ms", 5}};
  const auto page = read_status_page(R"({"v":1,"locks":[)" + lock_json(view) + "]}");
  ASSERT_TRUE(page);
  Cluster cluster = looked_up(nullptr, Json::array({"x"}));
  cluster.status_page = *page;

  const std::string text = described(cluster);

  EXPECT_THAT(text, HasSubstr("  acquired|100|"));
  EXPECT_THAT(text, HasSubstr("  wait_timeouts|7|"));
  EXPECT_THAT(text, Not(HasSubstr("hold_")));
  EXPECT_THAT(text, Not(HasSubstr("wait_ms")));
}

}  // namespace
}  // namespace cronlatch::plugin
