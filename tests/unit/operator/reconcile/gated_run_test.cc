// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/gated_run.h"

#include <gtest/gtest.h>

#include "gated_pod.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr const char* kMessage =
    R"({"v":1,"outcome":"skipped","reason":"held","lock":"reports/nightly",)"
    R"("fence":"1763690000123456","holder":"reports/nightly-1-abc","exit_code":0,"waited_ms":5,)"
    R"("held_ms":0,"started":"2026-11-21T02:00:00Z"})";

// With a container beside the gated one, in front of it.
Json pod(const std::string& message, int exit_code = 0) {
  Json object = testing::ended_pod("nightly-2-xyz", "pod-uid", message, exit_code);
  Json& containers = object["spec"]["containers"];
  containers.insert(containers.begin(), Json{{"name", "side"}, {"command", {"sh"}}});
  Json& statuses = object["status"]["containerStatuses"];
  statuses.insert(statuses.begin(),
                  Json{{"name", "side"}, {"state", {{"running", Json::object()}}}});
  return object;
}

TEST(GatedRun, IsReadFromTheMessageOfTheGatedContainer) {
  const auto run = read_gated_run(pod(kMessage));

  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->container, "main");
  EXPECT_EQ(run->result.kind, Kind::skipped);
  EXPECT_EQ(run->result.reason, Reason::held);
  EXPECT_EQ(run->result.lock, "reports/nightly");
  EXPECT_EQ(run->result.holder, "reports/nightly-1-abc");
  EXPECT_EQ(run->job.name, "nightly-2");
  EXPECT_EQ(run->job.uid, "job-uid");
}

TEST(GatedRun, IsReadBehindTheProgramOfAnotherWebhook) {
  Json moved = pod(kMessage);
  Json& container = moved["spec"]["containers"][1];
  container["args"] = container["command"];
  container["command"] = {"/vault/vault-env"};

  const auto run = read_gated_run(moved);

  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->container, "main");
  EXPECT_EQ(run->result.kind, Kind::skipped);
}

TEST(GatedRun, IsNothingWhileItRunsOrCanBeRestarted) {
  Json running = pod(kMessage);
  running["status"]["containerStatuses"][1]["state"] = {{"running", Json::object()}};
  EXPECT_FALSE(read_gated_run(running).has_value());

  Json restarting = pod(kMessage, 1);
  restarting["spec"]["restartPolicy"] = "OnFailure";
  restarting["status"]["phase"] = "Running";
  EXPECT_FALSE(read_gated_run(restarting).has_value());

  restarting["status"]["phase"] = "Failed";
  EXPECT_TRUE(read_gated_run(restarting).has_value());
}

TEST(GatedRun, IsNothingInAPodWithoutTheGate) {
  Json other = pod(kMessage);
  other["spec"]["containers"][1]["command"] = {"/bin/sh"};
  EXPECT_FALSE(read_gated_run(other).has_value());
}

}  // namespace
}  // namespace cronlatch::op
