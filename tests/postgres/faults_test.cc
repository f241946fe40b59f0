// SPDX-License-Identifier: Apache-2.0
// Runs of the real wrapper with a real server, with a proxy between them that loses or delays one
// message of the server, or closes instead: each message of a run in turn. Whatever the message
// was: the exit code and the outcome agree with what the command did, and one grant is counted
// once.
#include <memory>

#include "message_proxy.h"
#include "process/gated.h"
#include "support/long_tests.h"
#include "support/postgres_server.h"
#include "support/trials.h"

namespace cronlatch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr int kOwnCode = 7, kStoreDown = 69;
constexpr milliseconds kConnectTimeout{1'500};

std::string name_of(MessageFault fault) {
  return fault == MessageFault::lost ? "lost" : fault == MessageFault::late ? "late" : "closed";
}

class PostgresTrial {
 public:
  PostgresTrial(MessageFault fault, int number)
      : prefix_(name_of(fault) + "-" + std::to_string(number) + ":"),
        proxy_(server().port(), fault, number, kConnectTimeout + milliseconds(300)) {
    run_ = start(
        proxy_.port(), "outcome",
        {"say", "start", "sleep", "900", "await", dir_.path("go"), "say", "end", "exit", "7"});
  }
  // The number of messages that the run got.
  int judge() {
    SCOPED_TRACE(prefix_);
    std::optional<int> code;
    EXPECT_TRUE(eventually([&] {
      code = run_->exit_code(milliseconds(0));
      return code || !told().empty();
    })) << run_->err();
    const bool is_started = !told().empty();
    if (is_started) {
      // when: another run while the command runs
      const auto other = start(server().port(), "other-outcome", {"say", "overlap"});
      EXPECT_EQ(other->exit_code(), 75) << other->err();
      touch(dir_.path("go"));
      code = run_->exit_code();
    }
    const auto next = start(server().port(), "next-outcome", {"say", "next"});
    EXPECT_EQ(next->exit_code(), 0) << next->err() << run_->err();
    // then
    EXPECT_EQ(code, is_started ? kOwnCode : kStoreDown) << run_->err();
    EXPECT_EQ(told(), is_started ? "start\nend\nnext\n" : "next\n");
    EXPECT_THAT(read_file(dir_.path("outcome")),
                HasSubstr(is_started ? R"("outcome":"ran","reason":"")"
                                     : R"("outcome":"store_down","reason":"unreachable")"));
    judge_counters(is_started);
    return proxy_.seen();
  }

 private:
  static PostgresServer& server() { return PostgresServer::shared(); }
  std::string told() const { return read_file(dir_.path("told")); }
  std::unique_ptr<Program> start(int port, const std::string& outcome, const Words& words) const {
    Words argv = {binary(), "run", "--lock", "job", "--key-prefix", prefix_, "--store"};
    argv.push_back("postgres://cron@127.0.0.1:" + std::to_string(port) +
                   "/cronlatch?sslmode=disable");
    for (const Words& part : {Words{"--ttl", "6s", "--renew-every", "300ms"},
                              Words{"--connect-timeout", "1500ms", "--op-timeout", "400ms"},
                              Words{"--on-busy", "fail", "--outcome-file", dir_.path(outcome)},
                              Words{"--", talking_child(), "to", dir_.path("told")}, words})
      argv.insert(argv.end(), part.begin(), part.end());
    return std::make_unique<Program>(
        ProgramSpec{.argv = argv, .env = {"PATH=/usr/bin:/bin", "CRONLATCH_PASSWORD=secret"}});
  }
  long count_of(const std::string& counter) const {
    return std::stol(server().value(
        "SELECT coalesce(sum(value), 0) FROM cronlatch.counters JOIN cronlatch.locks "
        "ON lock_id = id WHERE prefix = '" +
        prefix_ + "' AND name = '" + counter + "'"));
  }
  void judge_counters(bool is_started) const {
    const long acquired = count_of("acquired");
    if (is_started) {
      EXPECT_EQ(acquired, 2);
    } else {
      // A grant without an answer was given back.
      EXPECT_LE(acquired, 2);
      EXPECT_GE(acquired, 1);
    }
    EXPECT_EQ(count_of("released"), acquired);
    EXPECT_EQ(count_of("runs_failed"), is_started ? 1 : 0);
    EXPECT_EQ(count_of("runs_succeeded"), 1);
    EXPECT_EQ(count_of("runs_busy"), is_started ? 1 : 0);
    for (const char* loss : kCountersOfLosses) EXPECT_EQ(count_of(loss), 0) << loss;
  }

  std::string prefix_;
  ScratchDir dir_;
  MessageProxy proxy_;
  std::unique_ptr<Program> run_;
};

TEST(PostgresFaults, OfEachMessageLeaveExitCodeOutcomeAndStatisticsTrue) {
  const int messages = PostgresTrial(MessageFault::lost, 0).judge();
  ASSERT_GT(messages, 10);
  Trials<PostgresTrial> trials(40);
  for (const MessageFault fault : {MessageFault::lost, MessageFault::late, MessageFault::closed})
    for (int number = 1; number <= messages; ++number) {
      // A short run: one fault for each message.
      if (!is_long_run() && number % 3 != static_cast<int>(fault)) continue;
      trials.start(fault, number);
    }
  trials.judge_rest();
}

}  // namespace
}  // namespace cronlatch::testing
