// SPDX-License-Identifier: Apache-2.0
// Threads: beginning and end of a term, and stop().
#include "operator/controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/kernel_clock.h"
#include "operator/liveness.h"
#include "support/fake_api.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::FakeApi;
using kube::Json;
using kube::string_at;
using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

const std::string kLease =
    "/apis/coordination.k8s.io/v1/namespaces/cronlatch/leases/cronlatch-operator";
const std::string kCronJob = "/apis/batch/v1/cronjobs/nightly";

template <class Condition>
bool within(std::chrono::seconds limit, const Condition& condition) {
  const auto end = Steady::now() + limit;
  while (!condition()) {
    if (Steady::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

struct Scene {
  Settings settings;
  FakeApi api;
  KernelClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};
  Metrics metrics{"test"};
  Exporter exporter{[] { return true; }, metrics, clock};
  EventRecorder events{{settings, metrics, clock, log, "test"}};
  std::atomic<int> certificates{0};
  Liveness liveness{clock, log, 3s};

  Scene() {
    for (const char* list : {"/apis/batch/v1/cronjobs", "/apis/batch/v1/jobs", "/api/v1/pods"})
      api.serve_list(list);
  }
  std::unique_ptr<Controller> controller(const std::string& name) {
    return std::make_unique<Controller>(ControllerDependencies{
        settings, api, metrics, exporter, clock, log, events, name,
        [this](const Certificate&) { ++certificates; },
        [this](std::string_view loop) { liveness.progress(loop); },
        [this] { liveness.begin("report", Millis(0)); }, [this] { liveness.end(); }, Millis(100)});
  }
  std::string holder() const {
    const auto lease = api.at(kLease);
    return lease ? string_at(*lease, {"spec", "holderIdentity"}) : "";
  }
  bool asked_for(const std::string& path) const {
    for (const kube::Request& request : api.requests())
      if (request.path == path) return true;
    return false;
  }
};

TEST(Controller, LeadsWatchesAndReportsACertificate) {
  Scene scene;
  const auto one = scene.controller("one");

  one->start();

  EXPECT_TRUE(within(30s, [&] { return one->leading() && scene.certificates == 1; }));
  EXPECT_TRUE(within(30s, [&] {
    return scene.asked_for("/apis/batch/v1/cronjobs") && scene.asked_for("/apis/batch/v1/jobs") &&
           scene.asked_for("/api/v1/pods");
  }));
}

TEST(Controller, ReleasesTheLeaseWhenItStops) {
  Scene scene;
  const auto one = scene.controller("one");
  one->start();
  ASSERT_TRUE(within(30s, [&] { return one->leading(); }));

  one->stop();

  EXPECT_FALSE(one->leading());
  EXPECT_EQ(scene.holder(), "");
}

TEST(Controller, EveryReplicaReportsTheCertificateOneWatches) {
  Scene scene;
  const auto one = scene.controller("one");
  one->start();
  ASSERT_TRUE(within(30s, [&] { return scene.certificates == 1; }));
  const auto two = scene.controller("two");
  scene.api.forget_requests();

  two->start();

  EXPECT_TRUE(within(30s, [&] { return scene.certificates == 2; }));
  EXPECT_TRUE(one->leading());
  EXPECT_FALSE(two->leading());
  one->stop();
  EXPECT_TRUE(within(30s, [&] { return two->leading(); }));
  EXPECT_TRUE(within(30s, [&] { return scene.asked_for("/apis/batch/v1/cronjobs"); }));
}

TEST(Controller, StopsWhileTheApiServerIsUnavailable) {
  Scene scene;
  scene.api.intercept = [](const kube::Request&) {
    return FakeApi::Answer(FakeApi::unreachable());
  };
  const auto one = scene.controller("one");
  one->start();

  const auto began = Steady::now();
  one->stop();

  EXPECT_LT(Steady::now() - began, 20s);
}

TEST(Controller, IgnoresTheSecretWithCertificateFiles) {
  Scene scene;
  scene.settings.certificate_mode = CertificateMode::files;
  const auto one = scene.controller("one");
  one->start();
  ASSERT_TRUE(within(30s, [&] { return scene.asked_for("/api/v1/pods"); }));
  one->stop();

  EXPECT_EQ(scene.certificates, 0);
  EXPECT_FALSE(scene.asked_for("/api/v1/namespaces/cronlatch/secrets/cronlatch-webhook-tls"));
}

// The API server does not answer, or the loop is blocked: both look like a call that lasts.
TEST(Controller, OnlyACallThatNeverEndsIsNoProgress) {
  Scene scene;
  std::atomic<bool> is_stuck{false};
  std::atomic<int> failed{0};
  scene.api.intercept = [&](const kube::Request&) -> std::optional<FakeApi::Answer> {
    while (is_stuck) std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(50ms);
    ++failed;
    return FakeApi::unreachable();
  };
  const auto one = scene.controller("one");
  one->start();
  ASSERT_TRUE(within(30s, [&] { return failed >= 3; }));
  EXPECT_EQ(scene.liveness.stuck(), "");

  is_stuck = true;
  EXPECT_TRUE(within(
      30s, [&] { return scene.liveness.stuck().find("made no progress") != std::string::npos; }));

  is_stuck = false;
  EXPECT_TRUE(within(30s, [&] { return scene.liveness.stuck().empty(); }));
}

// The thread that sends the Event of one CronJob, while the others and the loop continue.
TEST(Controller, OneStuckWorkerIsNoProgressWhileOthersContinue) {
  Scene scene;
  for (const char* name : {"stuck", "other"})
    scene.api.put(std::string("/apis/batch/v1/cronjobs/") + name, Json::parse(R"({
        "apiVersion":"batch/v1","kind":"CronJob",
        "metadata":{"namespace":"demo","name":")" + std::string(name) + R"(","uid":")" +
                                                                              name + R"(",
                    "annotations":{"cronlatch.dev/lock":"true"}},
        "spec":{"schedule":"0 * * * *","jobTemplate":{"metadata":{},"spec":{"template":{"spec":{
            "containers":[{"name":"main","command":["true"]}]}}}}}})"));
  std::atomic<bool> is_stuck{true};
  std::atomic<int> failed{0};
  scene.api.intercept = [&](const kube::Request& request) -> std::optional<FakeApi::Answer> {
    if (request.method == kube::Method::get || !request.path.starts_with("/apis/batch/"))
      return std::nullopt;
    if (request.path.ends_with("/stuck"))
      while (is_stuck) std::this_thread::sleep_for(5ms);
    else
      ++failed;
    return FakeApi::unreachable();
  };
  const auto one = scene.controller("one");
  one->start();

  EXPECT_TRUE(within(30s, [&] {
    return scene.liveness.stuck().starts_with("report made no progress") && failed >= 3;
  })) << scene.liveness.stuck();

  is_stuck = false;
  EXPECT_TRUE(within(30s, [&] { return scene.liveness.stuck().empty(); }));
}

TEST(Controller, ReadsOnlyTheNamespacesOfTheSettings) {
  Scene scene;
  scene.settings.namespaces = {"shop", "bank"};
  std::vector<std::string> expected;
  for (const char* name : {"shop", "bank"})
    for (const char* list : {"/apis/batch/v1/namespaces/%/cronjobs",
                             "/apis/batch/v1/namespaces/%/jobs", "/api/v1/namespaces/%/pods"}) {
      std::string path = list;
      path.replace(path.find('%'), 1, name);
      scene.api.serve_list(path);
      expected.push_back(path);
    }
  const auto one = scene.controller("one");

  one->start();

  for (const std::string& path : expected)
    EXPECT_TRUE(within(30s, [&] { return scene.asked_for(path); })) << path;
  EXPECT_FALSE(scene.asked_for("/apis/batch/v1/cronjobs"));
  EXPECT_FALSE(scene.asked_for("/apis/batch/v1/jobs"));
  EXPECT_FALSE(scene.asked_for("/api/v1/pods"));
}

// Of a deleted namespace also the Role is gone. Without the first list of every namespace the
// leader stores no checkpoint and counts nothing.
TEST(Controller, CountsInTheOtherNamespacesWhenOneIsNotReadable) {
  Scene scene;
  scene.settings.namespaces = {"shop", "deleted"};
  for (const char* list : {"/apis/batch/v1/namespaces/shop/cronjobs",
                           "/apis/batch/v1/namespaces/shop/jobs", "/api/v1/namespaces/shop/pods"})
    scene.api.serve_list(list);
  scene.api.intercept = [](const kube::Request& request) -> std::optional<FakeApi::Answer> {
    if (request.path.find("/namespaces/deleted/") == std::string::npos) return std::nullopt;
    return kube::Response{403, Json{{"reason", "Forbidden"}}};
  };
  const auto one = scene.controller("one");

  one->start();

  EXPECT_TRUE(within(30s, [&] {
    const auto lease = scene.api.at(kLease);
    return lease &&
           !string_at(*lease, {"metadata", "annotations", "cronlatch.dev/counted-pods"}).empty();
  }));
}

}  // namespace
}  // namespace cronlatch::op
