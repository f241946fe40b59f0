// SPDX-License-Identifier: Apache-2.0
#include "kube/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace std::chrono_literals;

using Emit = std::function<void(const WatchEvent&)>;

Json object(const std::string& name, const std::string& uid, const std::string& version = "1") {
  return {{"metadata",
           {{"namespace", "demo"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
}

std::string query_of(const Request& request, const std::string& key) {
  for (const auto& [name, value] : request.query)
    if (name == key) return value;
  return "(none)";
}

// A watcher whose pauses return at once and are recorded; it ends with its last scripted watch.
struct Scene {
  FakeApi api;
  HandClock clock;
  std::stop_source stop;
  std::vector<std::string> reported;
  std::vector<Millis> pauses;
  std::deque<FakeApi::Answer> lists;
  Millis watch_lasts{0};
  bool with_positions = false;
  std::string stop_at;  // after this call

  Scene() {
    api.intercept = [this](const Request&) -> std::optional<FakeApi::Answer> {
      if (lists.empty()) return Response{200, Json{{"metadata", {{"resourceVersion", "9"}}}}};
      auto answer = std::move(lists.front());
      lists.pop_front();
      return answer;
    };
  }
  void list(std::vector<Json> items, const std::string& version, const std::string& more = "") {
    lists.push_back(
        Response{200, Json{{"metadata", {{"resourceVersion", version}, {"continue", more}}},
                           {"items", std::move(items)}}});
  }
  void watch(std::function<FakeApi::Answer(const Emit&)> play) {
    api.watches.push_back([this, play](const Request&, const Emit& emit, const std::stop_token&) {
      clock.pass(watch_lasts);
      return play(emit);
    });
  }
  void watch_and_end() {
    watch([this](const Emit&) -> FakeApi::Answer {
      stop.request_stop();
      return Response{200, {}};
    });
  }
  void run() {
    WatchCallbacks callbacks{.on_object =
                                 [this](const Json& o) {
                                   reported.push_back("+" + key_of(o).name);
                                   if (reported.back() == stop_at) stop.request_stop();
                                 },
                             .on_deleted =
                                 [this](const ObjectKey& key, const std::string& uid) {
                                   reported.push_back("-" + key.name + "/" + uid);
                                 },
                             .on_listed = [this] { reported.push_back("listed"); },
                             .on_error = [](const std::string&) {},
                             .on_list_failed =
                                 [this](bool is_forbidden) {
                                   if (is_forbidden) reported.push_back("forbidden");
                                 }};
    if (with_positions) {
      callbacks.on_listing = [this](const std::string& at) { reported.push_back("listing " + at); };
      callbacks.on_position = [this](const std::string& at) { reported.push_back("at " + at); };
    }
    WatchTiming timing{clock, [] { return 0.5; },
                       [this](Millis time, const std::stop_token&) {
                         pauses.push_back(time);
                         clock.pass(time);
                         if (pauses.size() > 50) stop.request_stop();
                       }};
    Watcher(api, {.path = "/apis/batch/v1/cronjobs", .label_selector = "a=b"}, callbacks, timing)
        .run(stop.get_token());
  }
};

TEST(Watcher, ListsInPagesThenWatchesFromTheListedVersion) {
  Scene scene;
  scene.list({object("a", "1")}, "40", "next page");
  scene.list({object("b", "2")}, "41");
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported, ElementsAre("+a", "+b", "listed"));
  const auto requests = scene.api.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(query_of(requests[0], "resourceVersion"), "(none)");
  EXPECT_EQ(query_of(requests[0], "labelSelector"), "a=b");
  EXPECT_EQ(query_of(requests[1], "continue"), "next page");
  EXPECT_EQ(query_of(requests[2], "resourceVersion"), "41");
  EXPECT_EQ(query_of(requests[2], "allowWatchBookmarks"), "true");
  EXPECT_EQ(query_of(requests[2], "timeoutSeconds"), "450");
  EXPECT_GT(requests[2].deadline, 450s);
  EXPECT_GT(requests[2].idle_timeout, 60s);  // bookmarks come every minute
  EXPECT_LT(requests[2].idle_timeout, 300s);
}

// A list of 100,000 objects has 200 pages.
TEST(Watcher, StopsBetweenThePagesOfAList) {
  Scene scene;
  scene.list({object("a", "1")}, "40", "next page");
  scene.stop_at = "+a";

  scene.run();

  EXPECT_THAT(scene.reported, ElementsAre("+a"));
  EXPECT_EQ(scene.api.requests().size(), 1U);
}

// A proxy may sort the keys of an answer.
TEST(Watcher, AnnouncesAListWhoseMetadataFollowItsItems) {
  Scene scene;
  scene.with_positions = true;
  scene.api.metadata_last = true;
  scene.list({object("a", "1", "12")}, "40");
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported, ElementsAre("+a", "listing 40", "at 40", "listed"));
}

TEST(Watcher, ReportsEventsAndContinuesFromTheLastVersion) {
  Scene scene;
  scene.watch_lasts = 300s;
  scene.list({object("a", "1")}, "40");
  scene.watch([](const Emit& emit) -> FakeApi::Answer {
    emit({"ADDED", object("b", "2", "41")});
    emit({"MODIFIED", object("a", "1", "42")});
    emit({"DELETED", object("b", "2", "43")});
    emit({"BOOKMARK", object("", "", "50")});
    return Response{200, {}};
  });
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported, ElementsAre("+a", "listed", "+b", "+a", "-b/2"));
  EXPECT_EQ(query_of(scene.api.requests().back(), "resourceVersion"), "50");
  EXPECT_THAT(scene.pauses, IsEmpty());
}

TEST(Watcher, ReportsAPositionAfterAListAndAfterEachEvent) {
  Scene scene;
  scene.with_positions = true;
  scene.watch_lasts = 300s;
  scene.list({object("a", "1", "12")}, "40", "next page");
  scene.list({object("b", "2", "11")}, "40");
  scene.watch([](const Emit& emit) -> FakeApi::Answer {
    emit({"MODIFIED", object("a", "1", "42")});
    emit({"BOOKMARK", object("", "", "50")});
    return Response{410, {}};
  });
  scene.list({object("a", "1", "42")}, "90");
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported,
              ElementsAre("listing 40", "+a", "+b", "at 40", "listed", "+a", "at 42", "at 50",
                          "listing 90", "+a", "-b/2", "at 90", "listed"));
}

class WatcherGone : public ::testing::TestWithParam<bool> {};

TEST_P(WatcherGone, ListsAgainAndReportsMissedDeletions) {
  Scene scene;
  scene.list({object("a", "1"), object("b", "2"), object("c", "3")}, "40");
  // A 410 status is the only answer; a 410 event may follow others
  scene.watch([late = GetParam()](const Emit& emit) -> FakeApi::Answer {
    if (late) emit({"MODIFIED", object("a", "1", "41")});
    return Response{410, Json{{"reason", "Expired"}}};
  });
  scene.list({object("a", "1"), object("c", "33")}, "90");
  scene.watch_and_end();

  scene.run();

  std::vector<std::string> expected{"+a", "+b", "+c", "listed"};
  if (GetParam()) expected.push_back("+a");
  for (const char* later : {"+a", "-c/3", "+c", "-b/2", "listed"}) expected.push_back(later);
  EXPECT_EQ(scene.reported, expected);
  EXPECT_EQ(query_of(scene.api.requests().back(), "resourceVersion"), "90");
  EXPECT_EQ(query_of(scene.api.requests()[2], "resourceVersion"), "(none)");
  EXPECT_THAT(scene.pauses, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(AtOnceAndLate, WatcherGone, ::testing::Bool());

TEST(Watcher, ContinuesTheWatchAfterABrokenConnection) {
  Scene scene;
  scene.list({object("a", "1")}, "40");
  scene.watch([](const Emit&) -> FakeApi::Answer { return FakeApi::unreachable(); });
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported, ElementsAre("+a", "listed"));
  EXPECT_EQ(query_of(scene.api.requests().back(), "resourceVersion"), "40");
  EXPECT_THAT(scene.pauses, ElementsAre(1'000ms));
}

TEST(Watcher, BacksOffUpToThirtySecondsAndResetsWhenHealthy) {
  Scene scene;
  for (int i = 0; i < 8; ++i) scene.lists.push_back(FakeApi::unreachable());
  scene.list({}, "40");
  scene.watch([&](const Emit&) -> FakeApi::Answer {
    scene.clock.pass(121s);
    return FakeApi::unreachable();
  });
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.pauses, ElementsAre(1'000ms, 2'000ms, 4'000ms, 8'000ms, 16'000ms, 30'000ms,
                                        30'000ms, 30'000ms, 1'000ms));
}

TEST(Watcher, WaitsAsLongAsAnOverloadedServerRequests) {
  Scene scene;
  scene.lists.push_back(Response{429, {}, 5s});
  scene.list({}, "40");
  scene.watch([](const Emit&) -> FakeApi::Answer { return Response{503, {}, 20s}; });
  scene.watch([](const Emit&) -> FakeApi::Answer { return FakeApi::unreachable(); });
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.pauses, ElementsAre(6'250ms, 25'000ms, 4'000ms));
}

TEST(Watcher, WaitsWhenTheServerEndsEveryWatchAtOnce) {
  Scene scene;
  scene.list({}, "40");
  for (int i = 0; i < 3; ++i)
    scene.watch([](const Emit&) -> FakeApi::Answer { return Response{200, {}}; });
  scene.watch_and_end();

  scene.run();

  EXPECT_EQ(scene.pauses.size(), 3U);
}

TEST(Watcher, KeepsItsStateWhileListsFail) {
  Scene scene;
  scene.list({object("a", "1")}, "40");
  scene.watch([](const Emit&) -> FakeApi::Answer { return Response{410, {}}; });
  scene.list({}, "41", "second page");  // the first page does not hold it
  scene.lists.push_back(Response{503, {}});
  scene.list({object("a", "1")}, "42");
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported, ElementsAre("+a", "listed", "+a", "listed"));
}

TEST(Watcher, ReportsADeniedRightToListAndContinues) {
  Scene scene;
  scene.lists.push_back(Response{403, {}});
  scene.lists.push_back(Response{500, {}});
  scene.list({object("a", "1")}, "40");
  scene.watch([](const Emit&) -> FakeApi::Answer { return Response{403, {}}; });
  scene.lists.push_back(Response{403, {}});
  scene.list({object("a", "1")}, "41");
  scene.watch_and_end();

  scene.run();

  EXPECT_THAT(scene.reported,
              ElementsAre("forbidden", "+a", "listed", "forbidden", "+a", "listed"));
}

}  // namespace
}  // namespace cronlatch::kube
