// SPDX-License-Identifier: Apache-2.0
// A stuck request fails the liveness probe, also while the other threads answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "operator/endpoints.h"
#include "operator_process.h"
#include "support/hand_clock.h"
#include "support/https_server.h"
#include "support/journal.h"
#include "support/registry_server.h"

namespace cronlatch::testing {
namespace {

using op::HttpRequest;
using op::HttpResponse;

TEST(StuckRequest, FailsTheProbeWhileAnotherWorkerAnswers) {
  // Given: two workers, of which one does not return
  Journal journal;
  HandClock clock;
  op::Liveness liveness(clock, journal.log, Seconds(120));
  std::atomic<bool> is_open{false}, has_begun{false};
  const auto handler = [&](const HttpRequest& request) {
    if (request.path == "/stuck") has_begun = true;
    while (request.path == "/stuck" && !is_open) std::this_thread::sleep_for(1ms);
    if (request.path == "/throws") throw std::runtime_error("oops");
    return HttpResponse{};
  };
  op::HttpServer server(op::Transport::plain, {.workers = 2},
                        op::watched(liveness, "admission", handler), journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection connection(server.port());
  ASSERT_TRUE(connection.send(get("/stuck")));
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  // When
  clock.pass(Seconds(120));
  const std::string before = liveness.stuck();
  clock.pass(Seconds(1));
  for (const char* path : {"/", "/throws", "/"}) {
    TestConnection other(server.port());
    ASSERT_TRUE(other.send(get(path)) && other.answer()) << path;
  }
  // Then
  EXPECT_EQ(before, "");
  EXPECT_EQ(liveness.stuck(), "admission made no progress for 121s");
  is_open = true;
  EXPECT_TRUE(eventually([&] { return liveness.stuck().empty(); }));
}

// The log of the server blocks an I/O thread, as an endless loop in a library would.
TEST(StuckConnections, FailTheProbeWhileAnotherIoThreadMakesProgress) {
  // Given: two I/O threads, and one permitted connection
  HandClock clock;
  std::atomic<bool> is_open{false}, has_begun{false};
  std::atomic<int> rounds{0};
  const Log log{LogFormat::json, Level::debug, clock, [&](std::string_view line) {
                  if (line.find("accept_paused") == std::string_view::npos) return;
                  has_begun = true;
                  while (!is_open) std::this_thread::sleep_for(1ms);
                }};
  Journal journal;
  op::Liveness liveness(clock, journal.log, Seconds(120));
  op::HttpServer server(op::Transport::plain, {.connections = 1, .io_threads = 2},
                        [](const HttpRequest&) { return HttpResponse{}; }, log,
                        {.round =
                             [&] {
                               liveness.begin("connections", 10ms);
                               ++rounds;
                             },
                         .ended = [&] { liveness.end(); },
                         .interval = 10ms});
  struct AtEnd {
    ~AtEnd() { is_open = true; }  // the server waits for its threads
    std::atomic<bool>& is_open;
  } const at_end{is_open};
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  clock.pass(Seconds(200));
  ASSERT_TRUE(eventually([&] { return liveness.stuck().empty(); }));
  // When
  TestConnection connection(server.port());
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  clock.pass(Seconds(121));
  const int before = rounds;
  ASSERT_TRUE(eventually([&] { return rounds > before + 1; }));  // of the other thread
  // Then
  EXPECT_EQ(liveness.stuck(), "connections made no progress for 121s");
  is_open = true;
  EXPECT_TRUE(eventually([&] { return liveness.stuck().empty(); }));
}

// A handler may wait 3 s for a registry. This operator permits half a second.
TEST(StuckRequest, OfAnAdmissionFailsHealthz) {
  // Given
  ASSERT_TRUE(name_hosts()) << "no mount namespace for the tests' hosts";
  const Certificates certificates;
  HttpsServer silent(certificates.good(),
                     [](const auto&, HttpsServer::Peer& peer) { peer.wait_for_client_to_go(); });
  const std::string registry = "registry.test:" + std::to_string(silent.port());
  OperatorProcess op(
      {.timing = {"stats-interval=20", "stats-timeout=100", "certificate-poll=50", "progress=500"},
       .store = "redis://127.0.0.1:1",
       .more = "lookup: true\nlookup-registries: [\"" + registry +
               "\"]\nlookup-ca-file: " + certificates.ca() + "\n"});
  // When: one review after another
  std::jthread asking([&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      (void)op.ask(post("/admit/job", review_of_image(registry + "/a:1")));
  });
  // Then
  EXPECT_TRUE(eventually([&] {
    const auto answer = op.ask_plain(get("/healthz"));
    return answer && answer->status == 503 &&
           answer->body.starts_with("admission made no progress");
  }));
  asking.request_stop();
  asking.join();
  EXPECT_TRUE(eventually([&] { return op.ask_plain(get("/healthz"))->status == 200; }));
}

}  // namespace
}  // namespace cronlatch::testing
