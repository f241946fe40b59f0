// SPDX-License-Identifier: Apache-2.0
// The requests that three replicas send to registries in a simulated day, for 200 CronJobs with an
// image each.
#include <gtest/gtest.h>

#include <thread>

#include "operator/lookup/image_prefetcher.h"
#include "support/counting_registry.h"
#include "support/fake_api.h"
#include "support/hand_clock.h"
#include "support/patience.h"
#include "support/program.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::CountingRegistry;
using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using cronlatch::testing::head_answer;
using cronlatch::testing::ScratchDir;
using kube::Json;
using Kind = registry::HeadResult::Kind;

constexpr int kCronJobs = 200;
constexpr int kReplicas = 3;
constexpr int kMinutes = 24 * 60;
constexpr int kQuarter = 6 * 60;  // of a day, in minutes

std::string repository(int number) { return "ghcr.io/team/image-" + std::to_string(number); }

// 10 run every minute, 40 every 5 minutes, 100 every hour, 50 every night.
std::string schedule(int number) {
  if (number < 10) return "* * * * *";
  if (number < 50) return "*/5 * * * *";
  return std::to_string(number % 60) + (number < 150 ? " * * * *" : " 3 * * *");
}

Json cronjob(int number) {
  Json object = Json::parse(R"({"metadata":{"namespace":"demo","uid":"u"},
      "spec":{"jobTemplate":{"metadata":{"annotations":{"cronlatch.dev/lock":"true"}},
      "spec":{"template":{"spec":{"containers":[{"name":"main"}]}}}}}})");
  object["metadata"]["name"] = "job-" + std::to_string(number);
  object["spec"]["schedule"] = schedule(number);
  object["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] =
      repository(number) + ":1";
  return object;
}

Settings settings_for_lookups() {
  Settings settings;
  settings.image = "registry.example/cronlatch:1";
  settings.store = "rediss://redis.example:6379";
  settings.lookup = true;
  settings.lookup_registries = {"ghcr.io"};
  settings.lookup_architectures = {"amd64"};
  settings.lookup_cache_size = 10'000;
  return settings;
}

class RequestsOfADay : public ::testing::Test {
 protected:
  struct Replica {
    Replica(RequestsOfADay& day, int number)
        : images(day.settings_, {[](std::string_view) {}, [](Micros) {}}, day.clock_, day.log_),
          prefetcher({day.settings_, day.api_, images, day.clock_, day.log_,
                      [&day, number] { return day.leader_ == number; },
                      [](const kube::Event&) { return true; }}) {
      EXPECT_TRUE(
          images.start({.scratch = day.scratch_.path(), .client = &day.registry_}, &day.api_).ok());
      for (int i = 0; i < kCronJobs; ++i) prefetcher.add(cronjob(i));
    }
    void pass() {
      prefetcher.prefetch_all();
      const auto give_up = std::chrono::steady_clock::now() + cronlatch::testing::kPatience;
      while (!images.is_idle() && std::chrono::steady_clock::now() < give_up)
        std::this_thread::yield();
      ASSERT_TRUE(images.is_idle());
    }
    ImageLookup images;
    ImagePrefetcher prefetcher;
  };

  RequestsOfADay() {
    for (int i = 0; i < kReplicas; ++i) replicas_.push_back(std::make_unique<Replica>(*this, i));
  }
  void pass_minutes(int minutes) {
    for (int i = 0; i < minutes; ++i) {
      for (const auto& replica : replicas_) replica->pass();
      clock_.pass(Millis(60'000));
    }
  }
  // The largest number of GETs of manifests for one image.
  int most_gets() const {
    int most = 0;
    for (int i = 0; i < kCronJobs; ++i)
      most = std::max(most, registry_.counts(repository(i)).gets());
    return most;
  }

  HandClock clock_;
  const Settings settings_ = settings_for_lookups();
  Log log_{LogFormat::text, Level::error, clock_, [](std::string_view) {}};
  ScratchDir scratch_;
  FakeApi api_;
  CountingRegistry registry_;
  int leader_ = 0;
  std::vector<std::unique_ptr<Replica>> replicas_;  // last: they use all members above
};

TEST_F(RequestsOfADay, ReadEachManifestOnceByReplicaAndSendHeadBeforeARun) {
  pass_minutes(kMinutes / 2);
  leader_ = 1;
  pass_minutes(kMinutes / 2);

  // Each replica reads each image once: its manifest, and the manifest of its config.
  EXPECT_EQ(most_gets(), 2 * kReplicas);
  EXPECT_EQ(registry_.counts().gets(), 2 * kReplicas * kCronJobs);
  // Every five minutes for 50 CronJobs, every hour for 100, every day for 50; and once for each.
  constexpr int kHeads = 50 * 288 + 100 * 24 + 50;
  EXPECT_LE(registry_.counts().heads, kReplicas * (kHeads + kCronJobs));
  EXPECT_GE(registry_.counts().heads, kReplicas * kHeads * 9 / 10);
}

TEST_F(RequestsOfADay, OnlyTheLeaderLooksUpAnImageLongBeforeItsRun) {
  leader_ = 2;
  replicas_[0]->pass();
  // Those of the next 15 minutes.
  EXPECT_LT(registry_.counts().manifests, 100);
  const int before = registry_.counts().manifests;

  replicas_[2]->pass();

  EXPECT_EQ(registry_.counts().manifests, before + kCronJobs);
}

TEST_F(RequestsOfADay, HaveAnAnswerOfTheLastMinutesAtEachRun) {
  pass_minutes(120);
  for (int i = 0; i < kCronJobs; ++i) registry_.push(repository(i));
  pass_minutes(61);

  const Json pod = Json::object();
  for (int i = 0; i < 150; ++i) {  // those that ran meanwhile
    const auto answer = replicas_[static_cast<std::size_t>(i % kReplicas)]->images.find(
        {repository(i) + ":1", "demo", pod}, clock_.now());
    ASSERT_TRUE(std::holds_alternative<Entrypoint>(answer)) << i;
    EXPECT_EQ(std::get<Entrypoint>(answer).entrypoint.at(0), "/v2") << i;
  }
}

TEST_F(RequestsOfADay, StayBelow20GetsFor6HoursWhereHeadHasNoDigest) {
  registry_.answer_heads_with(head_answer(Kind::not_offered, ""));
  pass_minutes(kQuarter);
  EXPECT_LE(most_gets(), 20 * kReplicas);
}

TEST_F(RequestsOfADay, AreFewWhileARegistryIsUnavailable) {
  registry_.answer_heads_with(head_answer(Kind::unavailable, "down"));
  pass_minutes(kQuarter);

  EXPECT_EQ(registry_.counts().gets(), 0);
  // A pause of 2.5 to 5 minutes for each replica, for all images together.
  EXPECT_LE(registry_.counts().heads, kReplicas * kQuarter * 2 / 3);
}

TEST_F(RequestsOfADay, CeaseForTheTimeThatARegistryRequests) {
  registry_.answer_heads_with(head_answer(Kind::busy, "limited", Millis(6 * 3'600'000)));
  pass_minutes(kQuarter);

  EXPECT_LE(registry_.counts().heads, kReplicas * 2);  // two threads may send at the same time
}

}  // namespace
}  // namespace cronlatch::op
