// SPDX-License-Identifier: Apache-2.0
// Runs that wait, in order: tickets, dead places, and the reservation of a free lock.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class QueueTest : public LockTest {
 protected:
  Lock lock = new_lock();

  Reply wait_for(const std::string& owner, IfBusy if_busy = IfBusy::wait) {
    auto request = lock.acquisition(owner);
    request.if_busy = if_busy;
    return lock.send(request);
  }
  Busy busy(const Reply& reply) { return got<Busy>(reply); }
  // Each owner waits, one after the other.
  void queue(std::initializer_list<const char*> owners) {
    for (const char* owner : owners) {
      lock.pass(1ms);
      busy(wait_for(owner));
    }
  }
  bool is_granted(const Reply& reply) { return std::holds_alternative<Granted>(reply); }
  bool is_queued(const Reply& reply) {
    const auto* answer = std::get_if<Busy>(&reply);
    return answer != nullptr && answer->reason == BusyReason::queued;
  }
};

TEST_P(QueueTest, Q2GrantsInTheOrderOfTheFirstRequests) {
  lock.acquire("a");
  queue({"d", "b", "c"});
  queue({"c", "d", "b"});  // later requests change no place
  std::string holder = "a";
  for (const std::string next : {"d", "b", "c"}) {
    lock.pass(1s);
    EXPECT_EQ(got<Released>(lock.release(holder)).wake, next);
    for (const std::string other : {"b", "c", "d"}) {
      if (other == next || !lock.record().queue.contains(other)) continue;
      EXPECT_TRUE(is_queued(wait_for(other)));
    }
    EXPECT_TRUE(is_granted(wait_for(next)));
    holder = next;
  }
  EXPECT_TRUE(lock.record().queue.empty());
  EXPECT_TRUE(lock.record().asked.empty());
  EXPECT_EQ(got<Released>(lock.release("c")).wake, "");
}

TEST_P(QueueTest, TheReplyContainsHowManyRunsWaitBefore) {
  lock.acquire("a");
  EXPECT_EQ(busy(wait_for("b")).ahead, 0u);
  lock.pass(1ms);
  EXPECT_EQ(busy(wait_for("c")).ahead, 1u);
  lock.pass(1ms);
  EXPECT_EQ(busy(wait_for("d")).ahead, 2u);
  EXPECT_EQ(busy(wait_for("e", IfBusy::skip)).ahead, std::nullopt);
  EXPECT_EQ(busy(wait_for("b", IfBusy::timed_out)).ahead, std::nullopt);
  EXPECT_EQ(busy(wait_for("d")).ahead, 1u);
}

TEST_P(QueueTest, Q1ATicketRisesAfterABackwardStepOfTheClock) {
  lock.acquire("a");
  queue({"b"});
  lock.pass(-1h);
  queue({"c", "d"});
  const auto tickets = lock.record().queue;
  EXPECT_GT(tickets.at("c"), tickets.at("b"));
  EXPECT_GT(tickets.at("d"), tickets.at("c"));
}

TEST_P(QueueTest, Q5ARunHasOnePlace) {
  lock.acquire("a");
  queue({"b", "b", "b"});
  EXPECT_EQ(lock.record().queue.size(), 1u);
  EXPECT_EQ(lock.record().asked.at("b"), lock.now.us);
}

TEST_P(QueueTest, AQ6AFreeLockIsGrantedToNoNewcomerWhileARunWaits) {
  lock.acquire("a");
  queue({"b"});
  lock.release("a");
  for (const IfBusy if_busy : {IfBusy::skip, IfBusy::fail, IfBusy::wait, IfBusy::timed_out}) {
    const Busy reply = busy(lock.send([&] {
      auto request = lock.acquisition("c", 1 + static_cast<std::uint32_t>(if_busy));
      request.if_busy = if_busy;
      return request;
    }()));
    EXPECT_EQ(reply.reason, BusyReason::queued);
    EXPECT_EQ(reply.remaining, rules::kTurn);
  }
  EXPECT_EQ(lock.counted("c", "skipped_held"), 1);
  EXPECT_EQ(lock.counted("c", "runs_busy"), 2);
  EXPECT_TRUE(is_granted(wait_for("b")));
}

TEST_P(QueueTest, C2ASkipBecauseOtherRunsWaitIsAnsweredAlikeAgain) {
  lock.acquire("a");
  queue({"b"});
  lock.release("a");
  EXPECT_TRUE(is_queued(wait_for("c", IfBusy::skip)));
  lock.pass(1min);
  EXPECT_TRUE(is_queued(wait_for("c", IfBusy::skip)));
  EXPECT_EQ(lock.counted("c", "skipped_held"), 1);
}

TEST_P(QueueTest, ANewcomerIsGrantedWhenNoRunHasSentARequestFor3s) {
  lock.acquire("a");
  queue({"b"});
  lock.release("a");
  lock.pass(3s - 1us);
  EXPECT_TRUE(is_queued(wait_for("c", IfBusy::skip)));
  lock.pass(1us);
  EXPECT_TRUE(is_granted(lock.acquire("d")));
}

TEST_P(QueueTest, AReservationLapsesAfter2sForTheFirstRunThatSendsARequest) {
  lock.acquire("a");
  queue({"b", "c", "d"});
  lock.release("a");
  lock.pass(2s - 1us);
  EXPECT_TRUE(is_queued(wait_for("d")));
  lock.pass(1us);
  EXPECT_TRUE(is_queued(wait_for("e", IfBusy::skip)));
  EXPECT_TRUE(is_granted(wait_for("d")));
  EXPECT_EQ(busy(wait_for("b")).ahead, 0u) << "it keeps its place";
}

TEST_P(QueueTest, AReservationIsVoidAfterTheNextGrant) {
  lock.acquire("a");
  queue({"b", "c"});
  lock.release("a");
  lock.pass(2s);
  EXPECT_TRUE(is_granted(wait_for("c")));
  EXPECT_EQ(got<Released>(lock.release("c")).wake, "b");
  EXPECT_EQ(lock.record().turn->until, lock.now + 2s);
}

TEST_P(QueueTest, Q3APlaceIsDeadAfter6sWithoutARequest) {
  lock.acquire("a");
  queue({"b", "c"});
  lock.pass(6s - 2ms);
  EXPECT_EQ(busy(wait_for("c")).ahead, 1u);
  lock.pass(1ms);
  EXPECT_EQ(busy(wait_for("c")).ahead, 0u);
  EXPECT_FALSE(lock.record().queue.contains("b"));
  EXPECT_EQ(got<Released>(lock.release("a")).wake, "c");
}

TEST_P(QueueTest, Q4ARunThatWasStoppedGetsAPlaceAtTheEnd) {
  lock.acquire("a");
  queue({"b", "c"});
  lock.pass(4s);
  queue({"c"});
  lock.pass(2s);
  EXPECT_EQ(busy(wait_for("b")).ahead, 1u);
  EXPECT_EQ(got<Released>(lock.release("a")).wake, "c");
}

TEST_P(QueueTest, AQ8AReservedRunWhosePlaceIsDeadIsNotGranted) {
  lock.acquire("a");
  queue({"b"});
  lock.pass(5s);
  queue({"c"});
  EXPECT_EQ(got<Released>(lock.release("a")).wake, "b");
  lock.pass(1s);
  const Busy reply = busy(wait_for("b"));
  EXPECT_EQ(reply.reason, BusyReason::queued);
  EXPECT_EQ(reply.wake, "c");
  EXPECT_EQ(reply.ahead, 1u);
  EXPECT_TRUE(is_granted(wait_for("c")));
}

// Many dead runs in a row must not add up.
TEST_P(QueueTest, L4AReservationThatPassesOnBecauseOfADeadRunEndsNoLater) {
  lock.acquire("a");
  queue({"b"});
  lock.pass(5s);
  queue({"c", "d"});
  lock.release("a");
  const ServerTime until = lock.record().turn->until;
  lock.pass(1s);
  EXPECT_EQ(busy(wait_for("d")).wake, "c");
  EXPECT_EQ(lock.record().turn->until, until);
}

TEST_P(QueueTest, Q7ARunThatEndsPassesItsReservationOn) {
  lock.acquire("a");
  queue({"b", "c", "d"});
  EXPECT_EQ(got<NotHolder>(lock.release("b", RunVerdict::given_back)).wake, "");
  EXPECT_EQ(got<Released>(lock.release("a")).wake, "c");
  lock.pass(1s);
  EXPECT_EQ(got<NotHolder>(lock.release("c", RunVerdict::given_back)).wake, "d");
  EXPECT_EQ(lock.record().turn->until, lock.now + 2s);
  EXPECT_EQ(lock.record().queue.size(), 1u);
  EXPECT_TRUE(is_granted(wait_for("d")));
}

TEST_P(QueueTest, Q7ALateRequestOfARunThatHasLeftGetsNoPlace) {
  lock.acquire("a");
  queue({"b"});
  lock.release("b", RunVerdict::given_back);
  EXPECT_EQ(wait_for("b"), Reply(TooLate{true}));
  EXPECT_TRUE(lock.record().queue.empty());
}

TEST_P(QueueTest, Q7ARunWhoseWaitTimesOutLeaves) {
  lock.acquire("a");
  queue({"b", "c"});
  busy(wait_for("b", IfBusy::timed_out));
  EXPECT_FALSE(lock.record().queue.contains("b"));
  EXPECT_EQ(got<Released>(lock.release("a")).wake, "c");
}

TEST_P(QueueTest, K3ARunWhoseIdentityIsDoneLeavesAndPassesItsReservationOn) {
  lock.acquire("a");
  auto waits = lock.acquisition("b");
  waits.identity.once = "tick";
  waits.if_busy = IfBusy::wait;
  lock.send(waits);
  queue({"c"});
  lock.release("a");
  auto marks = lock.end("other", RunVerdict::ungated);
  marks.identity = waits.identity;
  marks.mark_done = true;
  lock.send(marks);
  const Busy reply = busy(lock.send(waits));
  EXPECT_EQ(reply.reason, BusyReason::done);
  EXPECT_EQ(reply.wake, "c");
  EXPECT_FALSE(lock.record().queue.contains("b"));
}

TEST_P(QueueTest, L2AnExpiredLockIsReservedForTheFirstRunByTheFirstRequest) {
  lock.acquire("a");
  lock.pass(28s);
  queue({"b", "c"});
  lock.pass(2s);
  const Busy reply = busy(wait_for("c"));
  EXPECT_EQ(reply.reason, BusyReason::queued);
  EXPECT_EQ(reply.wake, "b");
  EXPECT_EQ(reply.remaining, 2s);
  EXPECT_TRUE(got<Granted>(wait_for("b")).stole);
}

TEST_P(QueueTest, L2TheFirstRunIsGrantedAnExpiredLockAtOnce) {
  lock.acquire("a");
  lock.pass(28s);
  queue({"b", "c"});
  lock.pass(2s);
  EXPECT_TRUE(got<Granted>(wait_for("b")).stole);
}

TEST_P(QueueTest, L5ARetryOfAGrantedGroupThatWouldSkipGetsAPlace) {
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  lock.release("a", RunVerdict::failed);
  lock.acquire("b");
  queue({"c"});
  auto retry = lock.acquisition("d");
  retry.identity.group = "uid";
  retry.if_busy = IfBusy::skip;
  const Busy reply = busy(lock.send(retry));
  EXPECT_TRUE(reply.group_granted);
  EXPECT_EQ(reply.ahead, 1u);
}

TEST_P(QueueTest, L0ARetryWithinItsOwnMinHoldIsGrantedBeforeTheQueue) {
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  queue({"b"});
  auto end = lock.end("a", RunVerdict::failed);
  end.min_hold = 10min;
  EXPECT_EQ(got<Released>(lock.send(end)).wake, "") << "no run can be granted the lock";
  EXPECT_EQ(busy(wait_for("b")).reason, BusyReason::cooling);
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  EXPECT_TRUE(is_granted(lock.send(retry)));
}

TEST_P(QueueTest, L7ABackwardStepKeepsPlacesForAtMost6s) {
  lock.acquire("a");
  queue({"b", "c"});
  lock.pass(-1h);
  EXPECT_EQ(busy(wait_for("c")).ahead, 1u);
  lock.pass(6s);
  EXPECT_EQ(busy(wait_for("c")).ahead, std::optional<std::uint32_t>(0u));
}

TEST_P(QueueTest, L7ABackwardStepDoesNotExtendAReservation) {
  lock.acquire("a");
  queue({"b", "c"});
  lock.release("a");
  lock.pass(-1h);
  EXPECT_EQ(busy(wait_for("c")).remaining, 2s);
  lock.pass(2s);
  EXPECT_TRUE(is_granted(wait_for("c")));
}

TEST_P(QueueTest, ALostRecordHasNoReservation) {
  lock.acquire("a");
  queue({"b"});
  lock.release("a");
  lock.lose_grant();
  EXPECT_TRUE(is_granted(lock.acquire("c")));
  EXPECT_EQ(busy(wait_for("b")).ahead, 0u);
}

TEST_P(QueueTest, G3ARequestRemovesAtMostAHundredDeadPlaces) {
  lock.acquire("a");
  for (int i = 0; i < 250; ++i) {
    lock.pass(1us);
    busy(wait_for("x" + std::to_string(1000 + i)));
  }
  EXPECT_EQ(busy(wait_for("y")).ahead, kMaxAhead);
  lock.pass(6s);
  busy(wait_for("z"));
  EXPECT_EQ(lock.record().queue.size(), 152u);
  lock.release("a");
  EXPECT_EQ(lock.record().queue.size(), 52u);
}

CRONLATCH_RUN_ON_BOTH(QueueTest);

}  // namespace
}  // namespace cronlatch::testing
