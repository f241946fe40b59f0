// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/event_series.h"

#include <gtest/gtest.h>

#include <set>

namespace cronlatch::op {
namespace {

using Answer = EventSeries::Answer;
using Included = EventSeries::Included;
using Limit = EventSeries::Limit;
using Write = EventSeries::Write;
using namespace std::chrono_literals;

kube::Event event(const std::string& identity, std::string_view reason = "Skipped",
                  const std::string& object = "nightly", const std::string& space = "demo",
                  const std::string& kind = "CronJob") {
  return {.regarding = {"batch/v1", kind, space, object, space + object + "-uid"},
          .identity = identity,
          .reason = reason,
          .action = "Run",
          .note = "note of " + identity};
}

struct Scene {
  EventSeries series;
  TimePoint now{1h};
  explicit Scene(double per_second = 50) : series(per_second) {}

  EventSeries::Plan occurred(const kube::Event& event) { return series.occurred(event, now); }
  // The request, if there is one; it succeeds.
  std::optional<Write> written(const kube::Event& event) {
    const auto plan = occurred(event);
    const auto* const write = std::get_if<Write>(&plan);
    if (write == nullptr) return std::nullopt;
    EXPECT_TRUE(std::holds_alternative<Included>(series.answered(*write, Answer::written, now)));
    return *write;
  }
  // How many of `count` occurrences, each on an object of its own, become requests.
  int written_of(int count, std::string_view reason, const std::string& space) {
    int all = 0;
    for (int i = 0; i < count; ++i)
      if (written(event("p", reason, "job" + std::to_string(i), space, "Job"))) ++all;
    return all;
  }
  Limit limit_of(const kube::Event& event) {
    const auto plan = occurred(event);
    return std::get<Limit>(plan);
  }
};

TEST(EventSeries, ASecondOccurrenceRaisesTheCountOfTheFirstOne) {
  Scene scene;
  const auto first = scene.written(event("p1"));
  scene.now += 1min;
  const auto second = scene.written(event("p2"));

  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->exists);
  EXPECT_EQ(first->count, 1U);
  EXPECT_TRUE(second->exists);
  EXPECT_EQ(second->count, 2U);
  EXPECT_EQ(second->name, first->name);
  EXPECT_EQ(second->event.note, "note of p2");
}

TEST(EventSeries, OtherReasonsAndObjectsHaveEventsOfTheirOwn) {
  Scene scene;
  scene.written(event("p1"));
  EXPECT_FALSE(scene.written(event("p2", "Busy"))->exists);
  EXPECT_FALSE(scene.written(event("p2", "Skipped", "weekly"))->exists);
}

TEST(EventSeries, ANewEventBeginsAfterAnHour) {
  Scene scene;
  const auto first = scene.written(event("p1"));
  scene.now += 59min;
  EXPECT_TRUE(scene.written(event("p2"))->exists);
  scene.now += 1min;
  const auto next = scene.written(event("p3"));

  ASSERT_TRUE(next);
  EXPECT_FALSE(next->exists);
  EXPECT_EQ(next->count, 1U);
  EXPECT_NE(next->name, first->name);
}

TEST(EventSeries, CountsEachIdentityOnce) {
  Scene scene;
  scene.written(event("p1"));
  EXPECT_TRUE(std::holds_alternative<Included>(scene.occurred(event("p1"))));
  EXPECT_EQ(scene.written(event("p2"))->count, 2U);
}

TEST(EventSeries, AFailedRequestIsSentAgainWithTheSameCount) {
  Scene scene;
  auto plan = scene.occurred(event("p1"));
  const Write failed = std::get<Write>(plan);
  scene.series.answered(failed, Answer::failed, scene.now);

  const auto again = scene.written(event("p1"));

  ASSERT_TRUE(again);
  EXPECT_EQ(again->count, 1U);
  EXPECT_EQ(again->name, failed.name);
}

TEST(EventSeries, FailedRequestsUseNoTokens) {
  Scene scene;
  for (int i = 0; i < 100; ++i) {
    const auto plan = scene.occurred(event("p1"));
    ASSERT_TRUE(std::holds_alternative<Write>(plan)) << i;
    scene.series.answered(std::get<Write>(plan), Answer::failed, scene.now);
  }
}

TEST(EventSeries, OccurrencesDuringARequestAreOneFurtherRequest) {
  Scene scene;
  const auto first = scene.occurred(event("p1"));
  for (const char* id : {"p2", "p3"})
    EXPECT_TRUE(std::holds_alternative<Included>(scene.occurred(event(id))));

  const auto next = scene.series.answered(std::get<Write>(first), Answer::written, scene.now);

  ASSERT_TRUE(std::holds_alternative<Write>(next));
  EXPECT_EQ(std::get<Write>(next).count, 3U);
  EXPECT_EQ(std::get<Write>(next).event.note, "note of p3");
}

TEST(EventSeries, AnEventThatWasDeletedIsCreatedAgainWithItsCount) {
  Scene scene;
  scene.written(event("p1"));
  const auto second = scene.occurred(event("p2"));

  const auto next = scene.series.answered(std::get<Write>(second), Answer::missing, scene.now);

  ASSERT_TRUE(std::holds_alternative<Write>(next));
  EXPECT_FALSE(std::get<Write>(next).exists);
  EXPECT_EQ(std::get<Write>(next).count, 2U);
}

TEST(EventSeries, ACountIsAddedToAnEventThatExistsAlready) {
  Scene scene;
  const auto first = scene.occurred(event("p1"));
  scene.occurred(event("p2"));

  const auto next = scene.series.answered(std::get<Write>(first), Answer::exists, scene.now);

  ASSERT_TRUE(std::holds_alternative<Write>(next));
  EXPECT_TRUE(std::get<Write>(next).exists);
  EXPECT_EQ(std::get<Write>(next).count, 2U);
}

TEST(EventSeries, ADescriptionOfAStateHasNoCount) {
  Scene scene;
  const auto first = scene.written(event("ttl is invalid", "InvalidAnnotations"));
  EXPECT_FALSE(scene.written(event("ttl is invalid", "InvalidAnnotations")));
  const auto other = scene.written(event("lock is invalid", "InvalidAnnotations"));
  const auto back = scene.written(event("ttl is invalid", "InvalidAnnotations"));

  ASSERT_TRUE(first && other && back);
  for (const auto& write : {*first, *other, *back}) {
    EXPECT_FALSE(write.exists);
    EXPECT_EQ(write.count, 1U);
  }
  EXPECT_NE(other->name, first->name);
  EXPECT_EQ(back->name, first->name);
}

// As EventCorrelator of client-go: 25 at once, then one in five minutes.
TEST(EventSeries, AReasonOnOneObjectIsLimitedAndItsCountIsComplete) {
  Scene scene;
  for (int i = 1; i <= 25; ++i) ASSERT_TRUE(scene.written(event("p" + std::to_string(i)))) << i;
  for (int i = 26; i <= 30; ++i)
    EXPECT_EQ(scene.limit_of(event("p" + std::to_string(i))), Limit::object);
  EXPECT_TRUE(scene.written(event("p31", "RanWithoutLock")));

  scene.now += 5min;
  const auto next = scene.written(event("p32"));

  ASSERT_TRUE(next);
  EXPECT_EQ(next->count, 31U);
  EXPECT_EQ(scene.limit_of(event("p33")), Limit::object);
}

TEST(EventSeries, ADayOfSkipsIsOneEventAnHourWithFewRequests) {
  Scene scene;
  std::set<std::string> names;
  int requests = 0;
  for (int minute = 0; minute < 1'440; ++minute, scene.now += 1min)
    if (const auto write = scene.written(event("p" + std::to_string(minute)))) {
      names.insert(write->name);
      ++requests;
    }
  EXPECT_EQ(names.size(), 24U);
  EXPECT_LE(requests, 25 + 1'440 / 5);
}

TEST(EventSeries, OneNamespaceHasHalfOfTheEvents) {
  Scene scene(10);  // a burst of 2,000
  EXPECT_EQ(scene.written_of(1'500, "Acquired", "shop"), 1'000);
  EXPECT_EQ(scene.limit_of(event("p", "Acquired", "one more", "shop", "Job")), Limit::namespace_);
  EXPECT_TRUE(scene.written(event("p", "Acquired", "one", "other", "Job")));
  scene.now += 1s;
  EXPECT_EQ(scene.written_of(100, "Skipped", "shop"), 5);
}

TEST(EventSeries, AllNamespacesHaveOneLimit) {
  Scene scene(10);
  int all = 0;
  for (const char* space : {"a", "b", "c"}) all += scene.written_of(1'000, "Acquired", space);
  EXPECT_EQ(all, 2'000);
  EXPECT_EQ(scene.limit_of(event("p", "Acquired", "one more", "d", "Job")), Limit::all);
}

TEST(EventSeries, RoutineAndFailuresDoNotSuppressViolations) {
  Scene scene(10);
  for (const char* reason : {"Acquired", "Skipped", "StoreDown", "Busy"})
    for (const char* space : {"demo", "a", "b", "c"}) scene.written_of(1'500, reason, space);
  ASSERT_EQ(scene.limit_of(event("p", "Skipped", "x", "fresh")), Limit::all);
  ASSERT_EQ(scene.limit_of(event("p", "Busy", "x", "fresh")), Limit::all);

  for (const char* reason : {"RanWithoutLock", "DoneNotRecorded", "Lost", "Stolen"})
    EXPECT_TRUE(scene.written(event("p", reason))) << reason;
}

TEST(EventSeries, ManyJobsDoNotDisplaceACronJob) {
  Scene scene(10'000);
  const auto first = scene.written(event("p1"));
  scene.written_of(20'000, "Skipped", "demo");
  EXPECT_EQ(scene.written(event("p2"))->name, first->name);
}

}  // namespace
}  // namespace cronlatch::op
