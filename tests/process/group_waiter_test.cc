// SPDX-License-Identifier: Apache-2.0
// A run of an attempt group that was granted once, and the last reply of its wait.
#include <algorithm>

#include "fault_trial.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kConnectTimeout{2'000};

class GroupWaiter : public GatedByRedis, public ::testing::WithParamInterface<FaultKind> {
 protected:
  static bool is_last_question(const Fault::Request& request) {
    return verb_of(request) == RedisVerb::acquire &&
           std::find(request.begin(), request.end(), "timed_out") != request.end();
  }
};

TEST_P(GroupWaiter, WhoseLastReplyIsLostEndsWith75AndIsNoSkip) {
  const FaultKind kind = GetParam();
  // Given: the group was granted once, and another run holds the lock
  Program first(run({"--attempt-group", "group", "--ttl", "6s"}, {"exit", "1"}));
  ASSERT_EQ(first.exit_code(), 1) << first.err();
  Program holder(run({"--ttl", "6s"}, {"say", "up", "forever"}));
  ASSERT_TRUE(holder.says("up")) << holder.err();
  FaultProxy proxy(redis->port(), {.kind = kind,
                                   .concerns = is_last_question,
                                   .delay = kConnectTimeout + std::chrono::milliseconds(300)});
  store = proxy.url();
  // When
  Program waiter(
      run({"--attempt-group", "group", "--ttl", "6s", "--wait-timeout", "1s", "--connect-timeout",
           option_of(kConnectTimeout), "--outcome-file", dir.path("outcome")},
          {"touch", dir.path("started")}));
  const auto code = waiter.exit_code();
  // Then
  EXPECT_EQ(proxy.struck(), 1);
  if (is_silent(kind))
    EXPECT_THAT(code, ::testing::AnyOf(kTryLater, kStoreDown)) << waiter.err();
  else
    EXPECT_EQ(code, kTryLater) << waiter.err();
  EXPECT_THAT(read_file(dir.path("outcome")),
              HasSubstr("\"exit_code\":" + std::to_string(code.value_or(-1))));
  EXPECT_FALSE(exists(dir.path("started")));
}

INSTANTIATE_TEST_SUITE_P(Fault, GroupWaiter, ::testing::ValuesIn(kFaultKinds),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace cronlatch::testing
