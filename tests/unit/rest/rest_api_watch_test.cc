// SPDX-License-Identifier: Apache-2.0
// Watches of the real client on an HTTPS server with the faults of networks and API servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "client.h"
#include "rest/rest_api.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::certificates;
using cronlatch::testing::client_of;
using cronlatch::testing::HttpsServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string event(const std::string& type, const std::string& name) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name + "\"}}}\n";
}

struct Seen {
  std::vector<std::string> names;
  std::function<void(const WatchEvent&)> sink() {
    return [this](const WatchEvent& e) {
      names.push_back(string_at(e.object, {"metadata", "name"}));
    };
  }
};

Request watching(Millis deadline = 60s) {
  return {.path = "/apis/batch/v1/cronjobs", .query = {{"watch", "1"}}, .deadline = deadline};
}

TEST(RestApi, WatchJoinsEventsFromChunks) {
  const std::string all = event("ADDED", "a") + event("MODIFIED", "b") + event("DELETED", "c");
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    for (std::size_t at = 0; at < all.size(); at += 7) peer.chunk(all.substr(at, 7));
    peer.end_stream();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->status, 200);
  EXPECT_THAT(seen.names, ElementsAre("a", "b", "c"));
}

TEST(RestApi, WatchDiscardsAnIncompleteLineAfterAReset) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a") + R"({"type":"ADDED","obj)");
    peer.pause(100ms);  // so that the bytes are read before the reset takes them away
    peer.reset();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  EXPECT_FALSE(end.ok());
  EXPECT_THAT(seen.names, ElementsAre("a"));
}

TEST(RestApi, WatchEndsAtItsDeadlineWhenTheServerIsSilent) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a"));
    peer.wait_for_client_to_go();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(3s), seen.sink(), {});

  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message, HasSubstr("deadline"));
  EXPECT_THAT(seen.names, ElementsAre("a"));
}

// As with an unplugged cable: no packet reports the lost connection.
TEST(RestApi, WatchEndsAfterItsIdleTimeout) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a"));
    peer.wait_for_client_to_go();
  });
  Seen seen;
  Request request = watching(60s);
  request.idle_timeout = 300ms;

  const auto began = Steady::now();
  const auto end = client_of(server)->watch(request, seen.sink(), {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->status, 200);
  EXPECT_THAT(seen.names, ElementsAre("a"));
  EXPECT_LT(Steady::now() - began, 30s);  // long before its deadline
}

TEST(RestApi, WatchWithoutResponseIsAnErrorBeforeItsDeadline) {
  const HttpsServer server(certificates().good(),
                           [](const auto&, auto& peer) { peer.wait_for_client_to_go(); });
  Request request = watching(60s);
  request.idle_timeout = 300ms;

  const auto began = Steady::now();
  const auto end = client_of(server)->watch(request, [](const WatchEvent&) {}, {});

  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, Code::unreachable);
  EXPECT_THAT(end.error().message, HasSubstr("no answer"));
  EXPECT_LT(Steady::now() - began, 30s);
}

TEST(RestApi, WatchContinuesWhileBytesArrive) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    for (int i = 0; i < 12 && peer.pause(250ms); ++i) peer.chunk(event("BOOKMARK", "b"));
    peer.chunk(event("ADDED", "last"));
    peer.end_stream();
  });
  Seen seen;
  Request request = watching(60s);
  request.idle_timeout = 2s;  // of each pause, not of all of them together

  const auto end = client_of(server)->watch(request, seen.sink(), {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(seen.names.back(), "last");
}

TEST(RestApi, WatchEndsAtItsDeadlineWhileEventsArrive) {
  std::atomic<bool> enough{false};
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    const std::string many = event("ADDED", std::string(10'000, 'x'));
    const auto began = Steady::now();
    while (!enough && Steady::now() - began < 30s) peer.chunk(many);
    peer.close();
  });
  const auto api = client_of(server);

  const auto end = api->watch(watching(500ms), [](const WatchEvent&) {}, {});
  enough = true;

  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message, HasSubstr("deadline"));
}

TEST(RestApi, WatchIsStoppedWhileTheServerIsSilent) {
  std::atomic<bool> went{false};
  std::stop_source stop;
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a"));
    went = peer.wait_for_client_to_go();
  });
  const auto api = client_of(server);

  const auto began = Steady::now();
  const auto end = api->watch(
      watching(), [&](const WatchEvent&) { stop.request_stop(); }, stop.get_token());

  EXPECT_LT(Steady::now() - began, 20s);
  while (!went && Steady::now() - began < 20s) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(went);  // the connection is not left behind
}

TEST(RestApi, WatchReturns410AsStatus) {
  const HttpsServer server(certificates().good(), [](const auto&, auto& peer) {
    peer.answer(410, R"({"kind":"Status","code":410,"reason":"Expired"})");
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->status, 410);
  EXPECT_EQ(end->reason(), "Expired");
}

TEST(RestApi, WatchReturns410FromAnEvent) {
  const HttpsServer server(certificates().good(), [](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a") +
               R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone"}})"
               "\n");
    peer.end_stream();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->status, 410);
  EXPECT_EQ(end->reason(), "Gone");
  EXPECT_THAT(seen.names, ElementsAre("a"));
}

TEST(RestApi, WatchLimitsItsMemoryWithAFastServer) {
  constexpr int kEvents = 5'000;
  const std::string filler(1'000, 'x');
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    for (int i = 0; i < kEvents; ++i) peer.chunk(event("ADDED", filler));
    peer.end_stream();
  });
  int count = 0;

  const auto end = client_of(server)->watch(watching(), [&](const WatchEvent&) { ++count; }, {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(count, kEvents);
}

}  // namespace
}  // namespace cronlatch::kube
