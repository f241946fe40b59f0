// SPDX-License-Identifier: Apache-2.0
// Command line, replacement of certificates, shutdown after SIGTERM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "operator_process.h"
#include "support/stopped_thread.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

// Sends reviews for as long as it can, on one connection after the other, and counts those that
// were sent on a good connection and never answered.
struct Client {
  std::atomic<int> answered{0}, lost{0}, told_to_close{0};
  std::atomic<bool> enough{false};

  void run(const OperatorProcess& op) {
    while (!enough) {
      const auto connection = op.connect();
      if (!connection->connected()) return;  // the port is closed
      talk(*connection);
    }
  }
  void talk(TestConnection& connection) {
    while (!enough) {
      if (!connection.send(post("/admit/job", job_review("load")))) {
        ++lost;
        return;
      }
      const auto answer = connection.answer();
      if (!answer || answer->status != 200) {
        ++lost;
        return;
      }
      ++answered;
      if (answer->says_close()) {
        ++told_to_close;
        return;
      }
    }
  }
};

class Load {
 public:
  explicit Load(const OperatorProcess& op, int clients = 4) {
    for (int i = 0; i < clients; ++i) threads_.emplace_back([&] { client.run(op); });
  }
  ~Load() { stop(); }
  void stop() {
    client.enough = true;
    for (auto& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  bool answers(int more) {
    const int from = client.answered;
    return eventually([&] { return client.answered >= from + more; });
  }
  Client client;

 private:
  std::vector<std::thread> threads_;
};

TEST(Lifecycle, EveryRequestIsAnsweredDuringAShutdownUnderLoad) {
  // Given
  OperatorProcess op({.timing = {"drain=700", "linger=10000"}});
  Load load(op);
  ASSERT_TRUE(load.answers(50));
  const auto idle = op.connect();
  ASSERT_TRUE(idle->send(post("/admit/job", job_review("before"))));
  ASSERT_TRUE(idle->answer());
  // When
  op.program().signal(SIGTERM);
  ASSERT_TRUE(op.program().complains("\"event\":\"leaving\""));
  const auto ready = op.ask_plain(get("/readyz"));
  const auto alive = op.ask_plain(get("/healthz"));
  const auto code = op.program().exit_code();
  load.stop();
  // Then
  EXPECT_EQ(code, 0) << op.program().err();
  EXPECT_EQ(load.client.lost, 0);
  EXPECT_GT(load.client.told_to_close, 0);
  ASSERT_TRUE(ready && alive);
  EXPECT_EQ(ready->status, 503);
  EXPECT_THAT(ready->body, HasSubstr("shutting down"));
  EXPECT_EQ(alive->status, 200);
  EXPECT_TRUE(idle->is_closed_by_peer());
}

TEST(Lifecycle, ARequestInProgressIsAnsweredDuringTheShutdown) {
  // Given: half a review
  OperatorProcess op({.timing = {"drain=100"}});
  const auto connection = op.connect();
  const std::string request = post("/admit/job", job_review("late"));
  ASSERT_TRUE(connection->send(request.substr(0, request.size() / 2)));
  // When
  op.program().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !op.connect()->connected(); }));
  ASSERT_TRUE(connection->send(request.substr(request.size() / 2)));
  // Then
  const auto answer = connection->answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(answer->says_close());
  EXPECT_EQ(op.program().exit_code(), 0);
}

TEST(Lifecycle, ASecondSignalDoesNotWaitForNewConnections) {
  // Given
  OperatorProcess op({.timing = {"drain=600000"}});
  op.program().signal(SIGTERM);
  ASSERT_TRUE(op.program().complains("\"event\":\"leaving\""));
  // When
  op.program().signal(SIGTERM);
  // Then
  EXPECT_EQ(op.program().exit_code(), 0);
}

TEST(Lifecycle, CertificateIsReplacedUnderLoadWithoutAFailedReview) {
  // Given
  OperatorProcess op({.timing = {"certificate-poll=50"}});
  const auto old_wire = op.connect();
  const std::string old_serial = old_wire->peer_serial();
  Load load(op);
  ASSERT_TRUE(load.answers(20));
  // When
  op.install(op.certificates().rsa().cert, op.certificates().rsa().key);
  // Then: new connections use it, the old one continues, no review fails
  EXPECT_TRUE(eventually([&] { return op.connect()->peer_serial() != old_serial; }));
  ASSERT_TRUE(old_wire->send(post("/admit/job", job_review("old"))));
  EXPECT_TRUE(old_wire->answer());
  EXPECT_TRUE(load.answers(20));
  load.stop();
  EXPECT_EQ(load.client.lost, 0);
}

TEST(Lifecycle, AMismatchedPairIsIgnoredAndLoggedOnce) {
  // Given
  OperatorProcess op({.timing = {"certificate-poll=20"}});
  const std::string serial = op.connect()->peer_serial();
  // When: the certificate of one, the key of another
  op.install(op.certificates().rsa().cert, op.certificates().good().key);
  ASSERT_TRUE(op.program().complains("\"event\":\"certificate_refused\""));
  // Then
  EXPECT_THAT(op.program().err(), HasSubstr("does not belong"));
  EXPECT_EQ(op.connect()->peer_serial(), serial);
  // When: repaired
  op.install(op.certificates().rsa().cert, op.certificates().rsa().key);
  // Then
  EXPECT_TRUE(eventually([&] { return op.connect()->peer_serial() != serial; }));
  const std::string& output = op.program().err();
  EXPECT_TRUE(op.program().until(
      [&] { return output.find("certificate_loaded") != output.rfind("certificate_loaded"); }));
  EXPECT_EQ(output.find("certificate_refused"), output.rfind("certificate_refused"));
}

int code_of(const std::vector<std::string>& arguments, std::string* output) {
  std::vector<std::string> argv = {CRONLATCH_OPERATOR_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Program program(ProgramSpec{.argv = argv});
  const int code = program.exit_code().value_or(-1);
  *output = program.out() + program.err();
  return code;
}

TEST(CommandLine, PrintsVersionAndHelp) {
  std::string output;
  EXPECT_EQ(code_of({"version"}, &output), 0);
  EXPECT_THAT(output, HasSubstr("cronlatch-operator "));
  EXPECT_EQ(code_of({"help"}, &output), 0);
  EXPECT_THAT(output, HasSubstr("--config FILE"));
}

TEST(CommandLine, RejectsUnknownArguments) {
  std::string output;
  EXPECT_EQ(code_of({"--confg", "x"}, &output), 64);
  EXPECT_THAT(output, HasSubstr("--confg"));
}

TEST(CommandLine, ReportsFileLineAndKeyOfAnInvalidSetting) {
  // Given
  const ScratchDir dir;
  std::ofstream(dir.path("operator.yaml")) << "namespace: cronlatch\nadmision-address: x\n";
  // When
  std::string output;
  const int code = code_of({"--config", dir.path("operator.yaml")}, &output);
  // Then
  EXPECT_EQ(code, 78) << output;
  EXPECT_THAT(output, HasSubstr("operator.yaml"));
  EXPECT_THAT(output, HasSubstr("2"));
  EXPECT_THAT(output, HasSubstr("admision-address"));
}

TEST(CommandLine, ReportsThatItsOwnCertificateNeedsACluster) {
  // Given
  const ScratchDir dir;
  std::ofstream(dir.path("operator.yaml"))
      << "image: i\nstore: redis://r\nadmission-address: 127.0.0.1:0\nplain-address: 127.0.0.1:0\n"
      << "certificate-mode: own\n";
  // When
  std::string output;
  const int code = code_of({"--config", dir.path("operator.yaml")}, &output);
  // Then
  EXPECT_EQ(code, 78) << output;
  EXPECT_THAT(output, HasSubstr("certificate-mode"));
}

TEST(CommandLine, ReportsThatTokensNeedACluster) {
  // Given
  const ScratchDir dir;
  std::ofstream(dir.path("operator.yaml"))
      << "image: i\nstore: redis://r\nadmission-address: 127.0.0.1:0\nplain-address: 127.0.0.1:0\n"
      << "certificate-mode: files\nmetrics-auth: token\n";
  // When
  std::string output;
  const int code = code_of({"--config", dir.path("operator.yaml")}, &output);
  // Then
  EXPECT_EQ(code, 78) << output;
  EXPECT_THAT(output, HasSubstr("metrics-auth"));
}

TEST(CommandLine, ReportsAnInvalidAddress) {
  // Given
  const ScratchDir dir;
  std::ofstream(dir.path("operator.yaml"))
      << "image: i\nstore: redis://r\nadmission-address: nowhere\nplain-address: 127.0.0.1:0\n"
      << "certificate-mode: files\n";
  // When
  std::string output;
  const int code = code_of({"--config", dir.path("operator.yaml")}, &output);
  // Then
  EXPECT_EQ(code, 78) << output;
  EXPECT_THAT(output, HasSubstr("nowhere"));
}

// ---- the clients of the webhook ----

TEST(Lifecycle, TheAddressOfAnAdmissionClientIsLoggedOnce) {
  OperatorProcess op({.timing = {"drain=100"}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(op.ask(post("/admit/job", job_review("one"))));
  ASSERT_TRUE(op.program().complains("\"event\":\"admission_client\""));
  op.program().signal(SIGTERM);
  ASSERT_TRUE(op.program().exit_code());
  const std::string& output = op.program().err();
  EXPECT_THAT(output, HasSubstr("\"address\":\"127.0.0.1\""));
  EXPECT_EQ(output.find("admission_client"), output.rfind("admission_client"));
}

// ---- liveness ----

TEST(Lifecycle, TheLivenessProbeNoticesALoopThatIsStuck) {
  // Given: the store does not answer, which is no reason for a restart
  OperatorProcess op(
      {.timing = {"stats-interval=20", "stats-timeout=100", "certificate-poll=50", "progress=2000"},
       .store = "redis://127.0.0.1:1"});
  const auto health = [&] {
    const auto answer = op.ask_plain(get("/healthz"));
    return answer ? std::to_string(answer->status) + " " + answer->body : "no answer";
  };
  ASSERT_TRUE(op.program().complains("store_down"));
  EXPECT_EQ(health(), "200 ok\n");
  {
    // When
    const StoppedThread stopped(op.program().pid(), "lock-stats");
    ASSERT_EQ(stopped.error(), "");
    // Then
    EXPECT_TRUE(
        eventually([&] { return health().starts_with("503 lock-stats made no progress"); }));
    EXPECT_TRUE(op.program().complains("\"event\":\"loop_stuck\""));
    EXPECT_EQ(op.ask_plain(get("/readyz"))->status, 200) << "it still answers admissions";
  }
  EXPECT_TRUE(eventually([&] { return health() == "200 ok\n"; }));
}

TEST(Lifecycle, AStuckLoopDoesNotFailTheLivenessProbeOfAShutdown) {
  OperatorProcess op({.timing = {"stats-interval=20", "stats-timeout=100", "certificate-poll=50",
                                 "progress=500", "drain=600000"},
                      .store = "redis://127.0.0.1:1"});
  const StoppedThread stopped(op.program().pid(), "lock-stats");
  ASSERT_EQ(stopped.error(), "");
  ASSERT_TRUE(eventually([&] { return op.ask_plain(get("/healthz"))->status == 503; }));

  op.program().signal(SIGTERM);

  EXPECT_TRUE(op.program().complains("\"event\":\"leaving\""));
  EXPECT_EQ(op.ask_plain(get("/healthz"))->status, 200);
}

}  // namespace
}  // namespace cronlatch::testing
