// SPDX-License-Identifier: Apache-2.0
// A store that returns with older data while a run holds the lock (N3): a Redis that restarts from
// an older dump has the same record as a lagging replica that takes over.
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class OlderRecord : public GatedByRedis {
 protected:
  RedisAnswer redis_do(const Words& command) const {
    RedisAnswer answer = redis_command(redis->port(), command);
    EXPECT_FALSE(answer.is_error()) << answer.text;
    return answer;
  }
  std::string field(const std::string& name) const {
    return redis_do({"HGET", "cronlatch:{job}", name}).text;
  }
  // The server will return to the data of this moment.
  void save() {
    redis_do({"SAVE"});
    saved_state_ = field("state");
    saved_fence_ = field("fence");
  }
  void return_to_saved() {
    ASSERT_LT(std::atoll(saved_fence_.c_str()), std::atoll(field("fence").c_str()));
    redis->kill_now();
    redis->restart();
  }
  // Its lease outlasts the restart of the server, and its renewals come soon after it.
  ProgramSpec holder() const {
    return run({"--on-busy", "wait", "--ttl", "1m", "--renew-every", "300ms", "--outcome-file",
                dir.path("outcome")},
               {"to", file(), "say", "up", "await", go(), "say", "end", "exit", "5"});
  }
  // The holder continues, no other run is granted the lock, and the end is as without the loss.
  void is_restored(Program& program) {
    ASSERT_TRUE(program.complains("the renewal restored it")) << program.err();
    EXPECT_FALSE(lock_is_free());
    EXPECT_EQ(field("state"), "held");
    touch(go());
    EXPECT_EQ(program.exit_code(), 5) << program.err();
    EXPECT_TRUE(told("end"));
    EXPECT_THAT(read_file(dir.path("outcome")), HasSubstr(R"("outcome":"ran","reason":"")"));
    EXPECT_TRUE(shows("\"restored\":1"));
    EXPECT_TRUE(lock_is_free());
  }

  std::string saved_state_, saved_fence_;
};

TEST_F(OlderRecord, N3OfALockThatWasFreeIsReplacedAndTheHolderContinues) {
  // Given
  ASSERT_TRUE(lock_is_free());
  save();
  ASSERT_EQ(saved_state_, "free");
  Program program(holder());
  ASSERT_TRUE(told("up"));
  // When
  return_to_saved();
  // Then
  is_restored(program);
  EXPECT_TRUE(shows("\"stolen\":0"));
}

TEST_F(OlderRecord, N3OfALeaseThatIsOverIsReplacedAndTheHolderContinues) {
  // Given: the saved data has the lease of a run that was killed
  Program killed(run({"--ttl", "5s"}, {"say", "up", "forever"}));
  ASSERT_TRUE(killed.says("up")) << killed.err();
  save();
  ASSERT_EQ(saved_state_, "held");
  killed.signal(SIGKILL);
  Program program(holder());
  ASSERT_TRUE(told("up")) << program.err();
  // When
  return_to_saved();
  // Then
  is_restored(program);
  EXPECT_TRUE(shows("\"stolen\":1"));
}

TEST_F(OlderRecord, N3OfALiveLeaseEndsTheHolderWith79AndReasonGone) {
  // Given: the saved data has the lease of a run that has ended since
  Program former(run({"--ttl", "1h"}, {"say", "up", "await", dir.path("former")}));
  ASSERT_TRUE(former.says("up")) << former.err();
  save();
  ASSERT_EQ(saved_state_, "held");
  touch(dir.path("former"));
  ASSERT_EQ(former.exit_code(), 0) << former.err();
  Program program(holder());
  ASSERT_TRUE(told("up")) << program.err();
  // When
  return_to_saved();
  // Then: nothing shows that the other run has ended
  EXPECT_EQ(program.exit_code(), 79) << program.err();
  EXPECT_THAT(read_file(dir.path("outcome")), HasSubstr(R"("outcome":"lost","reason":"gone")"));
  EXPECT_EQ(field("fence"), saved_fence_);
  EXPECT_EQ(field("state"), "held");
}

}  // namespace
}  // namespace cronlatch::testing
