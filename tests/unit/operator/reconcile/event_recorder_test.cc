// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "leader.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::number_at;
using kube::string_at;
using testing::FakeApi;
using ::testing::HasSubstr;
using testing::kEvents;
using testing::Leader;
using testing::listed;
using testing::pod;
using testing::position;
using ::testing::UnorderedElementsAre;
using testing::updated;
using testing::World;

std::string suppressed(const Leader& leader, const std::string& by) {
  const std::string text = leader.metrics.text();
  const std::string line = "cronlatch_events_suppressed_total{by=\"" + by + "\"} ";
  const auto at = text.find(line);
  if (at == std::string::npos) return "";
  return text.substr(at + line.size(), text.find('\n', at) - at - line.size());
}

// Of the CronJob.
Json event_of(const World& world, const std::string& reason) {
  Json found;
  for (const Json& event : world.api.below(kEvents))
    if (string_at(event, {"regarding", "kind"}) == "CronJob" &&
        string_at(event, {"reason"}) == reason) {
      EXPECT_TRUE(found.is_null()) << "there are two";
      found = event;
    }
  return found;
}

void finish(Leader& leader, int count, const char* outcome, const char* reason) {
  for (int i = 1; i <= count; ++i)
    leader.reconciler.process(
        updated(ObjectKind::pod, pod("p" + std::to_string(i), outcome, reason)));
}

TEST(EventRecorder, RepeatedSkipsAreOneEventWithACount) {
  World world;
  Leader leader(world, "one");

  finish(leader, 20, "skipped", "held");

  const Json event = event_of(world, "Skipped");
  EXPECT_EQ(number_at(event, {"series", "count"}), 20);
  EXPECT_THAT(string_at(event, {"note"}), HasSubstr("pod nightly-p20:"));
  EXPECT_EQ(suppressed(leader, "object"), "0");
}

TEST(EventRecorder, WritesNoEventOfASkippedReason) {
  World world;
  world.settings.events_skip = {"Skipped"};
  Leader leader(world, "one");
  world.api.forget_requests();

  finish(leader, 3, "skipped", "held");
  finish(leader, 1, "ran", "none");

  EXPECT_TRUE(world.events().empty());  // p1 is reported
  EXPECT_EQ(suppressed(leader, "skip"), "6");
}

TEST(EventRecorder, ASkippedReasonDoesNotSkipOthers) {
  World world;
  world.settings.events_skip = {"Skipped"};
  Leader leader(world, "one");

  finish(leader, 1, "ran", "none");

  EXPECT_THAT(world.events(), UnorderedElementsAre("Job Acquired", "CronJob Acquired"));
}

TEST(EventRecorder, CountsEveryErrorWhateverEventsAreWritten) {
  for (const bool skip : {true, false}) {
    World world;
    if (skip) world.settings.events_skip = {"Refused"};
    world.settings.events_per_second = 1;
    Leader leader(world, "one");
    leader.reconciler.process(listed(ObjectKind::pod));
    leader.reconciler.process(listed(ObjectKind::cronjob));

    finish(leader, 500, "refused", "auth");
    leader.reconciler.process(position("1"));
    leader.settle();

    EXPECT_EQ(leader.counted("auth"), "500");
    EXPECT_EQ(suppressed(leader, skip ? "skip" : "object"), skip ? "1000" : "950");
  }
}

TEST(EventRecorder, ARetryAfterAnUnknownResultDoesNotCountTwice) {
  World world;
  Leader leader(world, "one");
  bool answers = false;
  world.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    // The first Event exists, and the answer was lost.
    if (answers || r.path != kEvents) return std::nullopt;
    world.api.put(r.path + "/" + string_at(r.body, {"metadata", "name"}), r.body);
    return FakeApi::unreachable();
  };
  finish(leader, 1, "skipped", "held");
  answers = true;
  world.clock.pass(Seconds(2));
  leader.election.step();
  leader.reconciler.tick();
  leader.reconciler.process(updated(ObjectKind::pod, pod("p2", "skipped", "held")));

  EXPECT_EQ(number_at(event_of(world, "Skipped"), {"series", "count"}), 2);
}

TEST(EventRecorder, CreatesADeletedEventAgainWithItsCount) {
  World world;
  Leader leader(world, "one");
  finish(leader, 2, "skipped", "held");
  const Json before = event_of(world, "Skipped");
  world.api.erase(kEvents + "/" + string_at(before, {"metadata", "name"}));

  leader.reconciler.process(updated(ObjectKind::pod, pod("p3", "skipped", "held")));

  EXPECT_EQ(number_at(event_of(world, "Skipped"), {"series", "count"}), 3);
}

// The next leader reads from it that the Job is counted.
TEST(EventRecorder, AdmissionBypassedHasNoLimit) {
  World world;
  world.settings.events_per_second = 1;
  Leader leader(world, "one");
  const auto bypassed = [](int job) {
    return kube::Event{
        .regarding = {"batch/v1", "Job", "demo", "j" + std::to_string(job), std::to_string(job)},
        .identity = "ungated",
        .reason = "AdmissionBypassed",
        .action = "Run",
        .note = "n"};
  };

  for (int i = 0; i < 1'000; ++i)
    EXPECT_EQ(leader.events.record(world.api, bypassed(i)), ApplyResult::done);

  EXPECT_EQ(world.events().size(), 1'000U);
  EXPECT_EQ(leader.events.record(world.api, bypassed(7)), ApplyResult::already_exists);
}

}  // namespace
}  // namespace cronlatch::op
