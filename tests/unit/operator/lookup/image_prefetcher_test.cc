// SPDX-License-Identifier: Apache-2.0
// Lookups before a Job needs them, and the Events for failed ones.
#include "operator/lookup/image_prefetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/kernel_clock.h"
#include "support/counting_registry.h"
#include "support/fake_api.h"
#include "support/program.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::CountingRegistry;
using cronlatch::testing::eventually;
using cronlatch::testing::FakeApi;
using cronlatch::testing::ScratchDir;
using kube::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kEvents[] = "/apis/events.k8s.io/v1/namespaces/demo/events";

Json cronjob(const std::string& image) {
  return Json::parse(R"({"metadata":{"name":"nightly","namespace":"demo","uid":"u-1"},
      "spec":{"schedule":"0 2 * * *","jobTemplate":{"metadata":{"annotations":{"cronlatch.dev/lock":"true"}},
      "spec":{"template":{"spec":{"containers":[{"name":"main","image":")" +
                     image + R"("}]}}}}}})");
}

Settings lookup_settings() {
  Settings settings;
  settings.image = "registry.example/cronlatch:1";
  settings.store = "rediss://redis.example:6379";
  settings.lookup = true;
  settings.lookup_registries = {"ghcr.io"};
  settings.lookup_architectures = {"amd64"};
  settings.lookup_cache_size = 100;
  settings.lookup_pull_secret_namespaces = {"demo"};
  return settings;
}

struct World {
  World() {
    registry.fail_gets("no such image");
    EXPECT_TRUE(images.start({.scratch = scratch.path(), .client = &registry}, &api).ok());
  }
  ScratchDir scratch;
  Settings settings = lookup_settings();
  KernelClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};
  std::vector<std::string> answers;  // as reported for metrics
  FakeApi api;
  CountingRegistry registry;
  bool leading = true;
  ImageLookup images{settings,
                     {.answered = [this](std::string_view result) { answers.emplace_back(result); },
                      .looked_up = [](Micros) {}},
                     clock,
                     log};
  ImagePrefetcher prefetcher{{settings, api, images, clock, log, [this] { return leading; },
                              [this](const kube::Event& event) {
                                const auto answer = api.call(to_request(
                                    event, kube::event_name(event), 1, "pod-1", clock.wall()));
                                return answer.ok() && answer->status < 500;
                              }}};

  std::vector<Json> events() const { return api.below(kEvents); }
  bool has_event() {
    return eventually([&] {
      prefetcher.prefetch_all();
      return !events().empty();
    });
  }
};

TEST(ImagePrefetcher, RecordsAFailedLookupOnce) {
  World world;
  world.prefetcher.add(cronjob("ghcr.io/a/b:1"));

  ASSERT_TRUE(world.has_event());
  world.prefetcher.prefetch_all();

  ASSERT_EQ(world.events().size(), 1U);
  const Json event = world.events()[0];
  EXPECT_EQ(event["reason"], "EntrypointUnknown");
  EXPECT_EQ(event["regarding"]["name"], "nightly");
  EXPECT_THAT(event["note"].get<std::string>(), HasSubstr("ghcr.io/a/b:1"));
  EXPECT_THAT(event["note"].get<std::string>(), HasSubstr("no such image"));
}

TEST(ImagePrefetcher, RecordsEventsOnTheLeaderOnly) {
  World world;
  world.leading = false;
  world.prefetcher.add(cronjob("quay.io/a/b:1"));
  world.prefetcher.prefetch_all();
  EXPECT_TRUE(world.events().empty());

  world.leading = true;

  EXPECT_TRUE(world.has_event());
  EXPECT_THAT(world.events()[0]["note"].get<std::string>(), HasSubstr("not on the list"));
}

TEST(ImagePrefetcher, ForgetsDeletedCronJobsAndThoseWithACommand) {
  World world;
  world.leading = false;
  world.prefetcher.add(cronjob("quay.io/a/b:1"));
  world.prefetcher.remove({"demo", "nightly"});
  world.prefetcher.add(cronjob("quay.io/a/b:2"));
  Json named = cronjob("quay.io/a/b:2");
  named["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"] = {"/k"};
  world.prefetcher.add(named);
  world.leading = true;

  world.prefetcher.prefetch_all();

  EXPECT_TRUE(world.events().empty());
}

TEST(ImageLookup, ReportsAnswersToAdmissionsAndNoPrefetches) {
  World world;
  world.settings.image_index = {{"pg", {"/e"}}};
  const Json pod = Json::object();

  (void)world.images.find({"pg:16", "demo", pod}, world.clock.now());
  (void)world.images.find({"quay.io/a", "demo", pod}, world.clock.now());
  (void)world.images.prefetch({"pg:16", "demo", pod}, registry::Freshness::recent);

  EXPECT_THAT(world.answers, ElementsAre("index", "error"));
}

constexpr char kCronJob[] = "/apis/batch/v1/namespaces/demo/cronjobs/nightly";
constexpr char kSecret[] = "/api/v1/namespaces/demo/secrets/logins";

Json pod_with_secrets() {
  return {
      {"imagePullSecrets", Json::array({{{"name", "logins"}}, {{"name", "../../../nodes/x"}}})}};
}
Json cronjob_with_secrets(const std::string& image) {
  Json object = cronjob(image);
  object["spec"]["jobTemplate"]["spec"]["template"]["spec"].update(pod_with_secrets());
  return object;
}
std::vector<std::string> paths(const World& world) {
  std::vector<std::string> all;
  for (const kube::Request& request : world.api.requests()) all.push_back(request.path);
  return all;
}

TEST(ImageLookup, ReadsPullSecretsInListedNamespacesOnly) {
  World world;
  const Json pod = pod_with_secrets();
  Json elsewhere = cronjob_with_secrets("ghcr.io/a/b:1");
  elsewhere["metadata"]["namespace"] = "elsewhere";
  world.prefetcher.add(elsewhere);
  world.prefetcher.add(cronjob_with_secrets("ghcr.io/a/b:1"));
  world.api.put(kCronJob, cronjob_with_secrets("ghcr.io/a/b:1"));

  (void)world.images.find({"ghcr.io/a/b:1", "elsewhere", pod}, world.clock.now());
  (void)world.images.find({"ghcr.io/a/b:1", "demo", pod}, world.clock.now());

  EXPECT_TRUE(eventually([&] { return paths(world).size() >= 2; }));
  world.images.stop();
  EXPECT_THAT(paths(world), ElementsAre(kCronJob, kSecret));
}

// The API server has another ServiceAccount for this CronJob than the review.
TEST(ImageLookup, ReadsNoServiceAccountAfterTheCronJobHasChanged) {
  for (const char* account : {"builder", "other"}) {
    World world;
    Json object = cronjob("ghcr.io/a/b:1");
    Json& pod = object["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    pod["serviceAccountName"] = "builder";
    world.prefetcher.add(object);
    pod["serviceAccountName"] = account;
    world.api.put(kCronJob, object);

    (void)world.images.find({"ghcr.io/a/b:1", "demo", {{"serviceAccountName", "builder"}}},
                            world.clock.now());

    EXPECT_TRUE(eventually([&] { return !paths(world).empty() && world.images.is_idle(); }));
    EXPECT_EQ(paths(world).size(), std::string(account) == "builder" ? 2U : 1U);
    EXPECT_EQ(paths(world).back(), std::string(account) == "builder"
                                       ? "/api/v1/namespaces/demo/serviceaccounts/builder"
                                       : kCronJob);
  }
}

TEST(ImageLookup, ReadsNoPullSecretForAReviewWithoutACronJob) {
  World world;
  const Json pod = pod_with_secrets();
  world.prefetcher.add(cronjob_with_secrets("ghcr.io/a/b:1"));
  world.api.put(kCronJob, cronjob_with_secrets("ghcr.io/a/b:1"));

  (void)world.images.find({"ghcr.io/a/other:1", "demo", pod}, world.clock.now());
  ASSERT_TRUE(eventually([&] { return world.images.is_idle(); }));
  const EntrypointResult answer =
      world.images.find({"ghcr.io/a/other:1", "demo", pod}, world.clock.now());

  ASSERT_TRUE(std::holds_alternative<UnknownEntrypoint>(answer));
  EXPECT_THAT(std::get<UnknownEntrypoint>(answer).reason, HasSubstr("a CronJob that exists"));
  EXPECT_TRUE(paths(world).empty());
}

TEST(ImageLookup, ReadsNoPullSecretAfterTheCronJobHasChanged) {
  for (const bool deleted : {false, true}) {
    World world;
    const Json pod = pod_with_secrets();
    world.prefetcher.add(cronjob_with_secrets("ghcr.io/a/b:1"));
    if (!deleted) world.api.put(kCronJob, cronjob_with_secrets("ghcr.io/a/new:1"));

    (void)world.images.find({"ghcr.io/a/b:1", "demo", pod}, world.clock.now());

    EXPECT_TRUE(eventually([&] { return !paths(world).empty() && world.images.is_idle(); }));
    EXPECT_THAT(paths(world), ElementsAre(kCronJob));
  }
}

// Rounded up. The budget of reviews is refilled with the time, by one each second.
int seconds_since(const World& world, TimePoint before) {
  return static_cast<int>(std::chrono::ceil<Seconds>(world.clock.now() - before).count());
}

TEST(ImageLookup, ReviewsOfUnneededImagesNeitherFillTheQueueNorEvictNeededImages) {
  World world;
  world.settings.lookup_cache_size = 100;
  world.registry.fail_gets("");
  for (int i = 0; i < 50; ++i) {
    Json one = cronjob("ghcr.io/team/needed-" + std::to_string(i) + ":1");
    one["metadata"]["name"] = "job-" + std::to_string(i);
    world.prefetcher.add(one);
  }
  world.prefetcher.prefetch_all();
  ASSERT_TRUE(eventually([&] { return world.images.is_idle(); }));
  ASSERT_EQ(world.registry.counts().heads, 50);
  const Json pod = Json::object();
  const TimePoint before = world.clock.now();

  for (int i = 0; i < 5'000; ++i)
    (void)world.images.find(
        {"ghcr.io/flood/" + std::to_string(i) + ":1", "namespace-" + std::to_string(i), pod},
        world.clock.now());
  ASSERT_TRUE(eventually([&] { return world.images.is_idle(); }));

  EXPECT_LE(world.registry.counts().heads, 50 + 60 + seconds_since(world, before));
  for (int i = 0; i < 50; ++i) {
    const EntrypointResult answer = world.images.find(
        {"ghcr.io/team/needed-" + std::to_string(i) + ":1", "demo", pod}, world.clock.now());
    EXPECT_TRUE(std::holds_alternative<Entrypoint>(answer)) << i;
  }
}

TEST(ImageLookup, OneNamespaceUsesAQuarterOfTheBudgetOfReviews) {
  World world;
  const Json pod = Json::object();
  const TimePoint before = world.clock.now();
  for (int i = 0; i < 200; ++i)
    (void)world.images.find({"ghcr.io/flood/" + std::to_string(i) + ":1", "demo", pod},
                            world.clock.now());
  ASSERT_TRUE(eventually([&] { return world.images.is_idle(); }));
  const int flood = world.registry.counts().heads;

  (void)world.images.find({"ghcr.io/other/a:1", "other", pod}, world.clock.now());
  ASSERT_TRUE(eventually([&] { return world.images.is_idle(); }));

  EXPECT_GE(flood, 15);
  EXPECT_LE(flood, 15 + seconds_since(world, before));
  EXPECT_EQ(world.registry.counts().heads, flood + 1);
}

TEST(ImageLookup, SendsNoRequestWithoutTheSetting) {
  World world;
  Settings off = world.settings;
  off.lookup = false;
  ImageLookup images(off, {[](std::string_view) {}, [](Micros) {}}, world.clock, world.log);
  ASSERT_TRUE(images.start({}, nullptr).ok());
  const Json pod = Json::object();

  const EntrypointResult answer = images.find({"ghcr.io/a", "demo", pod}, world.clock.now());

  ASSERT_TRUE(std::holds_alternative<UnknownEntrypoint>(answer));
  EXPECT_EQ(std::get<UnknownEntrypoint>(answer).reason, "");
}

// Each failed lookup may need a call to the API server, which may take its whole deadline.
TEST(ImagePrefetcher, ReportsProgressForEachImage) {
  World world;
  int progress = 0;
  ImagePrefetcher prefetcher{{world.settings, world.api, world.images, world.clock, world.log,
                              [] { return true; }, [](const kube::Event&) { return true; },
                              [&] { ++progress; }}};
  Json other = cronjob("ghcr.io/a/c:1");
  other["metadata"]["name"] = "other";
  prefetcher.add(cronjob("ghcr.io/a/b:1"));
  prefetcher.add(other);

  prefetcher.prefetch_all();

  EXPECT_EQ(progress, 2);
}

TEST(ImagePrefetcher, ReportsTheBeginAndTheEndOfEachLookup) {
  World world;
  std::atomic<int> began{0};
  std::atomic<int> ended{0};
  ImageLookup images{world.settings,
                     {.answered = [](std::string_view) {},
                      .looked_up = [](Micros) {},
                      .began = [&] { ++began; },
                      .ended = [&] { ++ended; }},
                     world.clock,
                     world.log};
  ASSERT_TRUE(images.start({world.scratch.path(), ""}, &world.api).ok());
  const Json pod = Json::object();

  (void)images.find({"ghcr.io/a/b:1", "demo", pod}, world.clock.now() + Seconds(60));

  EXPECT_EQ(began, 1);
  EXPECT_EQ(ended, 1);
}

TEST(ImagePrefetcher, WatchesOnlyTheNamespacesOfTheSettings) {
  World world;
  world.settings.namespaces = {"demo", "shop"};
  world.prefetcher.start();

  const auto asked_for = [&](const std::string& path) {
    for (const kube::Request& request : world.api.requests())
      if (request.path == path) return true;
    return false;
  };
  EXPECT_TRUE(eventually([&] {
    return asked_for("/apis/batch/v1/namespaces/demo/cronjobs") &&
           asked_for("/apis/batch/v1/namespaces/shop/cronjobs");
  }));
  world.prefetcher.stop();
  EXPECT_FALSE(asked_for("/apis/batch/v1/cronjobs"));
}

}  // namespace
}  // namespace cronlatch::op
