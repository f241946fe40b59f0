// SPDX-License-Identifier: Apache-2.0
// Several slots: their number, fences over all grants, and the reservations of free slots.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class SlotsTest : public LockTest {
 protected:
  Lock lock = new_lock();

  Acquire request(const std::string& owner, unsigned slots = 2, std::uint32_t attempt = 1) {
    Acquire a = lock.acquisition(owner, attempt);
    a.slots = slots;
    return a;
  }
  Reply acquire(const std::string& owner, unsigned slots = 2) {
    return lock.send(request(owner, slots));
  }
  Granted granted(const std::string& owner, unsigned slots = 2) {
    return got<Granted>(acquire(owner, slots));
  }
  Reply wait_for(const std::string& owner, unsigned slots = 2) {
    Acquire a = request(owner, slots);
    a.if_busy = IfBusy::wait;
    return lock.send(a);
  }
  Renew renewal(const std::string& owner, unsigned slots = 2) {
    Renew r = lock.renewal(owner);
    r.slots = slots;
    r.fence = fence_of(owner);
    return r;
  }
  Release end(const std::string& owner, RunVerdict verdict = RunVerdict::failed) {
    Release r = lock.end(owner, verdict);
    r.fence = fence_of(owner);
    return r;
  }
  Reply release(const std::string& owner) { return lock.send(end(owner)); }

  std::vector<rules::Slot> slot_list() {
    const rules::Record record = lock.record();
    std::vector<rules::Slot> all{record};
    all.insert(all.end(), record.more.begin(), record.more.end());
    return all;
  }
  rules::Slot slot_of(const std::string& owner) {
    for (const rules::Slot& slot : slot_list())
      if (slot.claim.owner == owner) return slot;
    return {};
  }
  Fence fence_of(const std::string& owner) { return slot_of(owner).fence; }
  std::int64_t open_grants(const std::string& owner) {
    return lock.counted(owner, "acquired") - lock.counted(owner, "released") -
           lock.counted(owner, "stolen") - lock.counted(owner, "revoked");
  }
  static bool is_slots_refusal(const Reply& reply) {
    const auto* refused = std::get_if<Unavailable>(&reply);
    return refused != nullptr && refused->error.code == Code::config && !refused->transient &&
           refused->unsent;
  }
};

TEST_P(SlotsTest, M1GrantsAsManyAsTheLockHasSlots) {
  granted("a", 3);
  granted("b", 3);
  granted("c", 3);
  EXPECT_EQ(got<Busy>(acquire("x", 3)).reason, BusyReason::held);
  release("b");
  granted("d", 3);
  EXPECT_EQ(got<Busy>(acquire("e", 3)).reason, BusyReason::held);
}

TEST_P(SlotsTest, M1EachLeaseIsRenewedOnItsOwn) {
  granted("a");
  lock.pass(10s);
  granted("b");
  lock.pass(15s);
  got<Renewed>(lock.send(renewal("a")));
  lock.pass(20s);

  EXPECT_EQ(got<NotHolder>(lock.send(renewal("b"))).reason, LostReason::expired);
  got<Renewed>(lock.send(renewal("a")));
  EXPECT_TRUE(granted("c").stole);
  EXPECT_EQ(lock.counted("b", "stolen"), 1);
  EXPECT_EQ(got<Busy>(acquire("d")).reason, BusyReason::held);
  got<Renewed>(lock.send(renewal("a")));
}

TEST_P(SlotsTest, ABusyReplyNamesTheHolderThatEndsFirst) {
  granted("a");
  lock.pass(10s);
  const Fence second = granted("b").fence;
  lock.pass(5s);
  got<Renewed>(lock.send(renewal("a")));

  const Busy busy = got<Busy>(acquire("c"));
  EXPECT_EQ(busy.holder, "pod-b");
  EXPECT_EQ(busy.fence, second);
  EXPECT_EQ(busy.remaining, 25s);
  EXPECT_EQ(busy.held_for, 5s);
}

TEST_P(SlotsTest, S2FencesRiseOverAllGrants) {
  Fence last = 0;
  const auto expect_higher = [&](const std::string& owner, unsigned slots) {
    const Fence fence = granted(owner, slots).fence;
    EXPECT_GT(fence, last) << owner;
    last = fence;
  };
  // At one time of the server, so that the time does not raise them.
  for (const char* owner : {"a", "b", "c"}) expect_higher(owner, 3);
  for (const char* owner : {"c", "a", "b"}) release(owner);
  expect_higher("d", 1);
  release("d");
  expect_higher("e", 2);
}

TEST_P(SlotsTest, AQ4ARepeatedRequestGetsItsOwnGrant) {
  granted("a");
  const Fence fence = granted("b").fence;
  lock.pass(1s);
  EXPECT_EQ(granted("b").fence, fence);
  EXPECT_EQ(lock.counted("b", "acquired"), 1);
  EXPECT_EQ(slot_of("b").expires, lock.now + lock.ttl);
  EXPECT_EQ(slot_of("a").expires, lock.now + lock.ttl - 1s);
}

TEST_P(SlotsTest, M4RefusesAnotherNumberWhileARunHolds) {
  granted("a", 3);
  const rules::Record before = lock.record();
  for (const unsigned other : {1u, 2u, 4u}) {
    const Reply reply = acquire("b", other);
    ASSERT_TRUE(is_slots_refusal(reply)) << other;
    const std::string& message = std::get<Unavailable>(reply).error.message;
    EXPECT_EQ(message, "slots is " + std::to_string(other) +
                           ", and lock ns/name has 3, which is held by pod-a");
  }
  EXPECT_EQ(lock.record(), before);
  granted("b", 3);
}

TEST_P(SlotsTest, M4RefusesSeveralSlotsWhileARunHoldsWithOne) {
  granted("a", 1);
  const rules::Record before = lock.record();
  EXPECT_TRUE(is_slots_refusal(acquire("b", 2)));
  EXPECT_EQ(lock.record(), before);
  release("a");
  granted("b", 2);
}

TEST_P(SlotsTest, M4AMinHoldKeepsTheNumber) {
  granted("a", 2);
  Release ends = end("a");
  ends.min_hold = 1min;
  lock.send(ends);
  EXPECT_TRUE(is_slots_refusal(acquire("b", 3)));
  lock.pass(1min);
  granted("b", 3);
}

TEST_P(SlotsTest, M4ANewNumberCountsExpiredGrantsAsStolen) {
  for (const char* owner : {"a", "b", "c"}) granted(owner, 3);
  lock.pass(31s);
  granted("d", 2);
  for (const char* owner : {"a", "b", "c"}) {
    EXPECT_EQ(lock.counted(owner, "stolen"), 1) << owner;
    EXPECT_EQ(open_grants(owner), 0) << owner;
  }
  granted("e", 2);
  EXPECT_EQ(got<Busy>(acquire("f", 2)).reason, BusyReason::held);
  EXPECT_EQ(got<NotHolder>(lock.send(renewal("b", 3))).reason, LostReason::taken);
}

TEST_P(SlotsTest, TheLastReleaseLeavesARecordWithOneSlot) {
  granted("a", 3);
  const Fence last = granted("b", 3).fence;
  release("b");
  EXPECT_EQ(lock.record().slots, 3u);
  release("a");

  const rules::Record record = lock.record();
  EXPECT_EQ(record.slots, 1u);
  EXPECT_TRUE(record.more.empty());
  EXPECT_EQ(record.fence, last);
  EXPECT_EQ(record.claim.owner, "b");
}

TEST_P(SlotsTest, N3ALostRecordIsRestoredForEachHolder) {
  granted("a");
  granted("b");
  const Renew first = renewal("a"), second = renewal("b");
  lock.lose_everything();

  EXPECT_TRUE(got<Renewed>(lock.send(second)).restored);
  EXPECT_TRUE(got<Renewed>(lock.send(first)).restored);
  EXPECT_FALSE(got<Renewed>(lock.send(first)).restored);
  EXPECT_EQ(got<Busy>(acquire("c")).reason, BusyReason::held);
  EXPECT_EQ(fence_of("a"), first.fence);
  EXPECT_EQ(open_grants("a"), 1);
  EXPECT_EQ(open_grants("b"), 1);
}

TEST_P(SlotsTest, N3ALostGrantIsNotRestoredWhenAllSlotsAreTaken) {
  granted("a");
  granted("b");
  const Renew first = renewal("a"), second = renewal("b");
  lock.lose_everything();
  lock.pass(1s);
  granted("c");
  EXPECT_TRUE(got<Renewed>(lock.send(first)).restored);

  EXPECT_EQ(got<NotHolder>(lock.send(second)).reason, LostReason::gone);
  EXPECT_EQ(got<Busy>(acquire("d")).reason, BusyReason::held);
}

TEST_P(SlotsTest, N3ALostGrantIsNotRestoredBesideAnotherNumber) {
  granted("a");
  const Renew lost = renewal("a");
  lock.lose_everything();
  lock.pass(1s);
  granted("c", 3);
  EXPECT_EQ(got<NotHolder>(lock.send(lost)).reason, LostReason::gone);
}

// The counters were kept: they count the grant once.
TEST_P(SlotsTest, C1ARestoredGrantIsCountedOnce) {
  granted("a");
  granted("b");
  const Renew first = renewal("a"), second = renewal("b");
  lock.lose_grant();
  got<Renewed>(lock.send(first));
  got<Renewed>(lock.send(second));
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
  EXPECT_EQ(lock.counted("b", "acquired"), 1);
  EXPECT_EQ(lock.counted("b", "restored"), 1);
}

TEST_P(SlotsTest, RevokesEveryLease) {
  granted("a", 3);
  lock.pass(5s);
  const Fence last = granted("b", 3).fence;
  const Revoked revoked = lock.revoke();
  EXPECT_TRUE(revoked.was_held);
  EXPECT_EQ(revoked.holder, "pod-b");
  EXPECT_EQ(revoked.fence, last);
  EXPECT_EQ(revoked.remaining, 30s);

  for (const char* owner : {"a", "b"}) {
    EXPECT_EQ(got<NotHolder>(lock.send(renewal(owner, 3))).reason, LostReason::revoked);
    EXPECT_EQ(lock.counted(owner, "revoked"), 1);
  }
  granted("c", 3);  // the third slot is free
  EXPECT_EQ(got<Busy>(acquire("x", 3)).reason, BusyReason::held);
  release("a");
  granted("d", 3);
}

TEST_P(SlotsTest, L0ARevocationOpensSlotsThatAMinHoldKeepsClosed) {
  granted("a");
  granted("b");
  for (const char* owner : {"a", "b"}) {
    Release ends = end(owner);
    ends.min_hold = 10min;
    lock.send(ends);
  }
  EXPECT_EQ(got<Busy>(acquire("x")).reason, BusyReason::cooling);
  EXPECT_TRUE(lock.revoke().was_cooling);
  granted("c");
  granted("d");
}

TEST_P(SlotsTest, L0AGroupIgnoresTheMinHoldOfItsOwnSlot) {
  Acquire grouped = request("a");
  grouped.identity.group = "g";
  got<Granted>(lock.send(grouped));
  Release ends = end("a");
  ends.identity.group = "g";
  ends.min_hold = 10min;
  lock.send(ends);
  granted("b");

  Acquire retry = request("c");
  retry.identity.group = "g";
  got<Granted>(lock.send(retry));
  EXPECT_EQ(got<Busy>(acquire("d")).reason, BusyReason::held);
}

TEST_P(SlotsTest, L5AGroupThatHoldsAnySlotIsKnown) {
  Acquire grouped = request("a");
  grouped.identity.group = "g";
  got<Granted>(lock.send(grouped));
  granted("b");
  lock.lose_groups();
  Acquire retry = request("c");
  retry.identity.group = "g";
  EXPECT_TRUE(got<Busy>(lock.send(retry)).group_granted);
}

TEST_P(SlotsTest, R5AReleaseWakesTheFirstRunWithoutAReservation) {
  granted("a");
  granted("b");
  for (const char* owner : {"c", "d", "e"}) {
    lock.pass(1ms);
    wait_for(owner);
  }
  EXPECT_EQ(got<Released>(release("a")).wake, "c");
  EXPECT_EQ(got<Released>(release("b")).wake, "d");
  EXPECT_EQ(got<Busy>(wait_for("e")).reason, BusyReason::queued);
  EXPECT_EQ(got<Busy>(acquire("f")).reason, BusyReason::queued);
  got<Granted>(wait_for("d"));
  EXPECT_EQ(got<Busy>(wait_for("e")).reason, BusyReason::queued);
  got<Granted>(wait_for("c"));
  EXPECT_EQ(got<Released>(release("d")).wake, "e");
  got<Granted>(wait_for("e"));
}

// Both leases end without a release, so that no slot is reserved.
TEST_P(SlotsTest, AQ6ARunAmongTheFirstNeedsNoReservation) {
  granted("a");
  granted("b");
  for (int i = 0; i < 6; ++i) {
    for (const char* owner : {"c", "d", "e"}) {
      lock.pass(1ms);
      got<Busy>(wait_for(owner));
    }
    lock.pass(5s);
  }
  EXPECT_EQ(got<Busy>(wait_for("e")).reason, BusyReason::queued);
  got<Granted>(wait_for("d"));
  EXPECT_EQ(got<Busy>(wait_for("e")).reason, BusyReason::queued);
  got<Granted>(wait_for("c"));
  EXPECT_EQ(got<Busy>(wait_for("e")).reason, BusyReason::held);
}

TEST_P(SlotsTest, AQ6ANewcomerIsGrantedASlotThatNoRunWaitsFor) {
  granted("a", 3);
  granted("b", 3);
  granted("c", 3);
  wait_for("d", 3);
  release("a");
  EXPECT_EQ(got<Busy>(acquire("e", 3)).reason, BusyReason::queued);
  release("b");
  // Two slots are free, and one run waits.
  granted("f", 3);
  got<Granted>(wait_for("d", 3));
  EXPECT_EQ(got<Busy>(acquire("g", 3)).reason, BusyReason::held);
}

TEST_P(SlotsTest, Q2ANewcomerIsGrantedTheReservedSlotOfARunThatIsSilent) {
  granted("a");
  granted("b");
  for (const char* owner : {"c", "d"}) {
    lock.pass(1ms);
    wait_for(owner);
  }
  lock.pass(2s);
  wait_for("c");
  EXPECT_EQ(got<Released>(release("a")).wake, "c");
  EXPECT_EQ(got<Released>(release("b")).wake, "d");
  lock.pass(1100ms);
  granted("e");
  EXPECT_EQ(got<Busy>(wait_for("d")).reason, BusyReason::queued);
  got<Granted>(wait_for("c"));
}

TEST_P(SlotsTest, Q7ARunThatLeavesPassesItsReservationOn) {
  granted("a");
  granted("b");
  for (const char* owner : {"c", "d"}) {
    lock.pass(1ms);
    wait_for(owner);
  }
  EXPECT_EQ(got<Released>(release("b")).wake, "c");
  EXPECT_EQ(got<NotHolder>(lock.send(end("c", RunVerdict::given_back))).wake, "d");
  got<Granted>(wait_for("d"));
}

// ---- run identities (once-per): at most one run of an identity at a time ----

TEST_P(SlotsTest, K2AnIdentityThatRunsExcludesItsOtherRuns) {
  Acquire first = request("a", 3), second = request("b", 3);
  first.identity.once = second.identity.once = "monday";
  second.identity.job = first.identity.job;
  const Fence fence = got<Granted>(lock.send(first)).fence;
  lock.pass(10s);
  const Busy busy = got<Busy>(lock.send(second));
  EXPECT_EQ(busy.reason, BusyReason::held);
  EXPECT_EQ(busy.holder, "pod-a");
  EXPECT_EQ(busy.fence, fence);
  EXPECT_EQ(busy.held_for, 10s);
  EXPECT_EQ(busy.remaining, 20s);
  EXPECT_EQ(lock.counted("a", "skipped_held"), 1);

  // K1: the identity of another job, and another identity of the job.
  Acquire other_job = request("c", 3), other_identity = request("d", 3);
  other_job.identity.once = "monday";
  other_identity.identity.job = first.identity.job;
  other_identity.identity.once = "tuesday";
  got<Granted>(lock.send(other_job));
  got<Granted>(lock.send(other_identity));
}

TEST_P(SlotsTest, K5AnIdentityCanBeClaimedAfterAFailedOrLostRun) {
  const auto claim = [&](const std::string& owner) {
    Acquire a = request(owner);
    a.identity.job = "ns/j";
    a.identity.once = "monday";
    a.if_busy = IfBusy::wait;
    return lock.send(a);
  };
  got<Granted>(claim("a"));
  got<Busy>(claim("b"));
  Release ends = end("a");
  ends.identity.job = "ns/j";
  ends.identity.once = "monday";
  lock.send(ends);
  got<Granted>(claim("b"));
  lock.pass(lock.ttl - 1s);
  got<Busy>(claim("c"));
  lock.revoke();
  got<Busy>(claim("c"));
  lock.pass(1s);
  got<Granted>(claim("c"));
  ends = end("c", RunVerdict::succeeded);
  ends.identity.job = "ns/j";
  ends.identity.once = "monday";
  ends.mark_done = true;
  ends.once_ttl = 24h;
  lock.send(ends);
  Acquire late = request("d");
  late.identity.job = "ns/j";
  late.identity.once = "monday";
  late.once_ttl = 24h;
  EXPECT_EQ(got<Busy>(lock.send(late)).reason, BusyReason::done);
}

// Its place would keep the free slots from the other runs.
TEST_P(SlotsTest, K2ARunWhoseIdentityRunsHasNoPlace) {
  const auto wait_as = [&](const std::string& owner, const std::string& once) {
    Acquire a = request(owner);
    a.identity.job = "ns/j";
    a.identity.once = once;
    a.if_busy = IfBusy::wait;
    return lock.send(a);
  };
  got<Granted>(wait_as("a", "monday"));
  EXPECT_FALSE(got<Busy>(wait_as("b", "monday")).ahead.has_value());
  EXPECT_TRUE(lock.record().queue.empty());
  granted("c");
  EXPECT_FALSE(got<Busy>(wait_as("b", "monday")).ahead.has_value());

  // Two runs of an identity wait, then one of them runs: the other one leaves its place.
  lock.pass(1ms);
  EXPECT_EQ(got<Busy>(wait_as("d", "tuesday")).ahead, 0u);
  lock.pass(1ms);
  EXPECT_EQ(got<Busy>(wait_as("e", "tuesday")).ahead, 1u);
  lock.pass(1ms);
  EXPECT_EQ(got<Busy>(wait_as("f", "")).ahead, 2u);
  EXPECT_EQ(got<Released>(release("c")).wake, "d");
  got<Granted>(wait_as("d", "tuesday"));
  EXPECT_EQ(got<Released>(release("a")).wake, "e");
  const Busy left = got<Busy>(wait_as("e", "tuesday"));
  EXPECT_EQ(left.holder, "pod-d");
  EXPECT_EQ(left.wake, "f");
  got<Granted>(wait_as("f", ""));
}

TEST_P(SlotsTest, TheViewHasTheOpenGrants) {
  granted("a", 3);
  lock.pass(10s);
  granted("b", 3);
  lock.pass(25s);
  const LockView view = rules::view("x", lock.record(), lock.now);
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_EQ(view.slots, 3u);
  EXPECT_EQ(view.identity.holder, "pod-b");
  ASSERT_EQ(view.grants.size(), 2u);
  EXPECT_EQ(view.grants[0].identity.holder, "pod-a");
  EXPECT_EQ(view.grants[0].state, LockState::expired);
  EXPECT_EQ(view.grants[1].identity.holder, "pod-b");
  EXPECT_EQ(view.grants[1].state, LockState::held);
}

TEST_P(SlotsTest, TheViewIsClosedOnlyWhenAMinHoldClosesEachSlot) {
  const auto view = [&] { return rules::view("x", lock.record(), lock.now); };
  const auto release_with_min_hold = [&](const std::string& owner, Millis min_hold) {
    granted(owner);
    Release ends = end(owner);
    ends.min_hold = min_hold;
    lock.send(ends);
  };
  release_with_min_hold("a", 2min);
  EXPECT_EQ(view().state, LockState::free) << "the other slot is free";
  EXPECT_EQ(view().closed_until(), ServerTime{});
  EXPECT_EQ(view().closed_slots.size(), 1u);
  EXPECT_EQ(view().closed_slots.front().until, lock.now + 2min);
  release_with_min_hold("b", 1min);
  EXPECT_EQ(view().closed_slots.size(), 2u);
  EXPECT_EQ(view().closed_slots.front().until, lock.now + 1min);
  EXPECT_EQ(got<Busy>(acquire("x")).reason, BusyReason::cooling);
  EXPECT_EQ(view().state, LockState::cooling);
  EXPECT_EQ(view().closed_until(), lock.now + 1min) << "the first slot that opens";
  lock.pass(1min);
  EXPECT_EQ(view().state, LockState::free);
  granted("c");
}

// A crashed holder within its min-hold, beside a free slot.
TEST_P(SlotsTest, TheViewOfACrashedHolderIsNotClosedByItsMinHold) {
  Acquire crashed = request("a");
  crashed.min_hold = 10min;
  got<Granted>(lock.send(crashed));
  lock.pass(31s);
  const LockView view = rules::view("x", lock.record(), lock.now);
  EXPECT_EQ(view.state, LockState::expired);
  EXPECT_EQ(view.closed_until(), ServerTime{});
  EXPECT_EQ(view.closed_slots.size(), 1u);
  granted("b");
}

CRONLATCH_RUN_ON_BOTH(SlotsTest);

}  // namespace
}  // namespace cronlatch::testing
