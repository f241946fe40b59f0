// SPDX-License-Identifier: Apache-2.0
// Hostile or broken peers of the admission port. After each attack the operator answers a valid
// review, has as many descriptors as before and hardly more memory.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "operator_process.h"

namespace cronlatch::testing {
namespace {

// Measures the operator before the attack and compares afterwards.
class Attack : public ::testing::Test {
 protected:
  void begin(const OperatorProcess::Options& options = {}) {
    op = std::make_unique<OperatorProcess>(options);
    ASSERT_TRUE(honest_review_is_answered());  // what is allocated once has been allocated
    ASSERT_TRUE(eventually([&] {
      files = op->open_files();
      return files == op->open_files();
    }));
    files = op->open_files();
    resident = op->resident_kb();
  }
  void expect_unharmed(long more_kb = 8 * 1024) {
    EXPECT_TRUE(op->alive());
    EXPECT_TRUE(op->open_files_return_to(files)) << op->open_files() << " instead of " << files;
    EXPECT_TRUE(honest_review_is_answered()) << output();
    if (kChecksMemory) {
      EXPECT_LE(op->resident_kb(), resident + more_kb);
    }
  }
  bool honest_review_is_answered() const {
    const auto answer = op->ask(post("/admit/job", job_review("honest")));
    return answer && answer->status == 200 && answer->body.find("\"honest\"") != std::string::npos;
  }

  std::string output() {
    op->program().complains("nothing more", 100ms);
    return op->program().err();
  }

  std::unique_ptr<OperatorProcess> op;
  int files = 0;
  long resident = 0;
};

TEST_F(Attack, InvalidChunkSizesAreRejected) {
  begin();
  for (const std::string size : {"-1", "-2", "-5", "7fffffffffffffff", "ffffffffffffffff",
                                 "10000000000000000", "zz", "", " 5", "0x5"}) {
    // When
    const auto connection = op->connect();
    connection->send(
        "POST /admit/job HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n" +
        size + "\r\n{}\r\n0\r\n\r\n");
    connection->half_close();
    // Then
    const auto answer = connection->answer();
    EXPECT_TRUE(!answer || answer->status >= 400) << "chunk size " << size;
    EXPECT_TRUE(connection->is_closed_by_peer()) << "chunk size " << size;
  }
  expect_unharmed();
}

TEST_F(Attack, AnEndlessHeaderIsClosedAtItsDeadline) {
  begin({.timing = {"header=600"}});
  const auto connection = op->connect();
  ASSERT_TRUE(connection->send("POST /admit/job HTTP/1.1\r\n"));
  // When: further lines, which must not extend the deadline
  int lines = 0;
  const bool cut =
      eventually([&] { return !connection->send("X-" + std::to_string(lines++) + ": y\r\n"); });
  // Then
  EXPECT_TRUE(cut);
  expect_unharmed();
}

TEST_F(Attack, AnIncompleteBodyIsClosedAtItsDeadline) {
  begin({.timing = {"body=600"}});
  // When
  const auto connection = op->connect();
  ASSERT_TRUE(
      connection->send("POST /admit/job HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                       "Content-Length: 1000\r\n\r\n{\"half\":"));
  // Then
  EXPECT_TRUE(connection->is_closed_by_peer());
  expect_unharmed();
}

TEST_F(Attack, AClientWithoutHandshakeIsClosedAtItsDeadline) {
  begin({.timing = {"handshake=600"}});
  // When
  std::vector<std::unique_ptr<TestConnection>> silent;
  for (int i = 0; i < 30; ++i)
    silent.push_back(std::make_unique<TestConnection>(op->admission_port()));
  silent.front()->send("\x16\x03\x01");  // the beginning of a beginning
  // Then
  for (const auto& connection : silent) EXPECT_TRUE(connection->is_closed_by_peer());
  expect_unharmed();
}

TEST_F(Attack, AnIdleConnectionIsClosedAtItsDeadline) {
  begin({.timing = {"idle=600"}});
  // When
  const auto connection = op->connect();
  ASSERT_TRUE(connection->send(post("/admit/job", job_review("one"))));
  ASSERT_TRUE(connection->answer());
  // Then
  EXPECT_TRUE(connection->is_closed_by_peer());
  expect_unharmed();
}

TEST_F(Attack, ABodyOf8MbIsRejectedWithAResponse) {
  begin();
  const std::string body(8 * 1024 * 1024, ' ');
  for (int i = 0; i < 5; ++i) {
    // When
    const auto connection = op->connect();
    connection->send(post("/admit/job", body));
    const auto answer = connection->answer();
    // Then
    if (answer) {
      EXPECT_EQ(answer->status, 413);
    }
    EXPECT_TRUE(connection->is_closed_by_peer());
  }
  expect_unharmed();
}

TEST_F(Attack, AnEndlessChunkedBodyIsClosedAtTheLimit) {
  begin();
  const auto connection = op->connect();
  connection->send("POST /admit/job HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'a') + "\r\n";
  // When
  long sent = 0;
  while (sent < 512L * 1024 * 1024 && connection->send(chunk)) sent += 0x10000;
  // Then
  EXPECT_LT(sent, 512L * 1024 * 1024);
  EXPECT_TRUE(connection->is_closed_by_peer());
  expect_unharmed(16 * 1024);
}

TEST_F(Attack, ManyLargeBodiesStayWithinTheBudget) {
  begin();
  // When: 30 peers send almost 7 MB each and wait
  const std::string body(7'000'000, ' ');
  const std::string request = post("/admit/job", body);
  std::vector<std::unique_ptr<TestConnection>> peers;
  for (int i = 0; i < 30; ++i) {
    peers.push_back(op->connect());
    peers.back()->send(std::string_view(request).substr(0, request.size() - 1));
  }
  // Then: 64 MB of bodies, and not 210
  if (kChecksMemory) {
    EXPECT_LT(op->resident_kb(), resident + 100 * 1024);
  }
  EXPECT_TRUE(honest_review_is_answered());
  peers.clear();
  expect_unharmed(16 * 1024);
}

TEST_F(Attack, AHeaderOf60KbIsRejected) {
  begin();
  const auto connection = op->connect();
  // When
  connection->send("POST /admit/job HTTP/1.1\r\nX: " + std::string(60'000, 'x') + "\r\n\r\n");
  // Then
  const auto answer = connection->answer();
  if (answer) {
    EXPECT_EQ(answer->status, 431);
  }
  EXPECT_TRUE(connection->is_closed_by_peer());
  expect_unharmed();
}

TEST_F(Attack, JsonOf200000LevelsIsAnswered) {
  begin();
  const std::string deep(200'000, '[');
  const std::string closed = deep + std::string(200'000, ']');
  std::string inside = job_review("deep");
  inside.replace(inside.find("\"object\":"), 9, "\"object\":" + closed + ",\"object\":");
  for (const std::string& body : {deep, closed, inside}) {
    // When
    const auto answer = op->ask(post("/admit/job", body));
    // Then
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body.find("\"allowed\":true"), std::string::npos);
  }
  expect_unharmed(16 * 1024);
}

TEST_F(Attack, AThousandProbesLeakNoDescriptors) {
  begin();
  // When: as a tcpSocket probe does
  for (int i = 0; i < 1'000; ++i) {
    const TestConnection probe(op->admission_port());
    ASSERT_TRUE(probe.connected());
  }
  // Then
  expect_unharmed();
}

TEST_F(Attack, InvalidBytesAreRejected) {
  begin();
  std::mt19937 random(4711);
  for (int i = 0; i < 60; ++i) {
    std::string garbage(1 + random() % 3'000, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    // When: as TLS, and within TLS
    TestConnection plain(op->admission_port());
    plain.send(garbage);
    plain.half_close();
    const auto inside = op->connect();
    inside->send(garbage);
    inside->half_close();
    // Then
    EXPECT_TRUE(plain.is_closed_by_peer());
    const auto answer = inside->answer();
    EXPECT_TRUE(!answer || answer->status == 400 || answer->status == 431);
  }
  expect_unharmed();
}

TEST_F(Attack, IdleConnectionsAreClosedAtTheLimit) {
  begin({.timing = {"connections=20"}});
  // When: more than the limit, after the TLS handshake, silent
  std::vector<std::unique_ptr<TestConnection>> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(op->connect());
  // Then
  EXPECT_TRUE(honest_review_is_answered());
  EXPECT_LE(op->open_files(), files + 20);
  strangers.clear();
  expect_unharmed();
}

TEST_F(Attack, OperatorRecoversAfterItRanOutOfDescriptors) {
  begin({.timing = {"connections=10000"}, .descriptors = 60});
  // When: more connections than descriptors
  std::vector<std::unique_ptr<TestConnection>> many;
  for (int i = 0; i < 90; ++i)
    many.push_back(std::make_unique<TestConnection>(op->admission_port()));
  ASSERT_TRUE(op->program().complains("accept_paused"));
  const double cpu = op->cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  ASSERT_FALSE(eventually([&] { return !op->alive(); }, 1500ms));
  const double spent = op->cpu_seconds() - cpu;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  // Then: it pauses instead of a busy loop
  EXPECT_LT(spent, passed.count() / 20);  // a busy loop gets far more, also of a busy machine
  many.clear();
  expect_unharmed();
}

}  // namespace
}  // namespace cronlatch::testing
