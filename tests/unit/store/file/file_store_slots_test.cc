// SPDX-License-Identifier: Apache-2.0
// Locks with several slots: how many hold at once, another number, the record, min-hold, force.
#include <algorithm>
#include <filesystem>

#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

class FileStoreSlots : public FileStore {
 protected:
  static Acquire with_slots(const Caller& program, unsigned slots) {
    Acquire request = program.acquire();
    request.slots = slots;
    return request;
  }
  // A process that holds a slot until it is killed.
  std::unique_ptr<Child> holder(const std::string& owner, unsigned slots, Millis min_hold = {}) {
    Gate has_it;
    auto child = std::make_unique<Child>([&] {
      Caller one = program(owner);
      Acquire request = with_slots(one, slots);
      request.min_hold = min_hold;
      if (!std::holds_alternative<Granted>(one(request).value())) return 1;
      has_it.open();
      pause();
      return 0;
    });
    has_it.wait();
    return child;
  }
  std::string version() const { return content_of(file(".rec")).substr(0, 16); }
  static std::int64_t open_grants(Caller& program) {
    return program.count("acquired") - program.count("released") - program.count("stolen") -
           program.count("revoked");
  }
};

TEST_F(FileStoreSlots, AreGrantedToAsManyRunsAsThereAre) {
  auto one = program("1"), two = program("2"), three = program("3");
  const Granted first = expect<Granted>(one(with_slots(one, 2)));
  world_.pass(Millis(5));
  const Granted second = expect<Granted>(two(with_slots(two, 2)));
  EXPECT_GT(second.fence, first.fence);

  const Busy busy = expect<Busy>(three(with_slots(three, 2)));
  EXPECT_EQ(busy.reason, BusyReason::held);
  EXPECT_EQ(busy.holder, one.identity().holder) << "the run that holds it longest";
  EXPECT_FALSE(is_kernel_lock_free(file(".lock")));
  EXPECT_FALSE(is_kernel_lock_free(file(".2.slot")));
  const LockView view = three.show();
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_EQ(view.slots, 2U);
  ASSERT_EQ(view.grants.size(), 2U);
  EXPECT_EQ(view.grants[0].fence, first.fence);
  EXPECT_EQ(view.grants[1].identity, two.identity());
  EXPECT_EQ(view.fence, second.fence);
  EXPECT_EQ(open_grants(three), 2);

  expect<Released>(one(one.release(first.fence)));
  EXPECT_EQ(version(), "cronlatch-lock 2") << "slot 2 is held";
  ++three.claim().attempt;
  const Granted third = expect<Granted>(three(with_slots(three, 2)));
  EXPECT_FALSE(third.stole);
  EXPECT_GT(third.fence, second.fence);
  expect<Released>(two(two.release(second.fence)));
  expect<Released>(three(three.release(third.fence)));
  EXPECT_EQ(version(), "cronlatch-lock 1") << "as version 0.1.0 reads it";
  EXPECT_EQ(three.show().state, LockState::free);
  EXPECT_EQ(three.show().slots, 1U);
  EXPECT_EQ(three.show().fence, third.fence);
  EXPECT_EQ(open_grants(three), 0);
  EXPECT_EQ(three.count("runs_succeeded"), 3);
}

TEST_F(FileStoreSlots, OneSlotLeavesFilesAndRecordAsTheyWere) {
  auto one = program("1");
  const Granted granted = expect<Granted>(one(with_slots(one, 1)));
  EXPECT_EQ(version(), "cronlatch-lock 1");
  expect<Released>(one(one.release(granted.fence)));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(world_.path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a+b.lock", "a+b.mutex", "a+b.rec"}));
}

TEST_F(FileStoreSlots, OfAnotherNumberAreRefusedWhileARunHoldsOne) {
  auto one = program("1"), two = program("2"), other = program("3");
  const Granted first = expect<Granted>(one(with_slots(one, 2)));
  const Granted second = expect<Granted>(two(with_slots(two, 2)));
  expect<Released>(one(one.release(first.fence)));
  const std::string before = content_of(file(".rec"));

  // Only slot 2 is held now, which version 0.1.0 does not know.
  for (const unsigned slots : {1U, 3U}) {
    const Unavailable refused = expect_unavailable(other(with_slots(other, slots)));
    EXPECT_EQ(refused.error.code, Code::config);
    EXPECT_FALSE(refused.transient);
    EXPECT_EQ(refused.error.message, "slots is " + std::to_string(slots) +
                                         ", and lock a/b has 2, which is held by host-of-2");
  }
  EXPECT_EQ(content_of(file(".rec")), before) << "nothing is counted";

  // When no run holds it, the next grant sets the number
  expect<Released>(two(two.release(second.fence)));
  expect<Granted>(other(with_slots(other, 3)));
  EXPECT_EQ(other.show().slots, 3U);
  EXPECT_EQ(expect_unavailable(two(with_slots(two, 1))).error.message,
            "slots is 1, and lock a/b has 3, which is held by host-of-3");
}

TEST_F(FileStoreSlots, AreRefusedWhileARunWithOneSlotHoldsTheLock) {
  auto one = program("1"), two = program("2");
  const Granted first = expect<Granted>(one(with_slots(one, 1)));
  EXPECT_EQ(expect_unavailable(two(with_slots(two, 2))).error.message,
            "slots is 2, and lock a/b has 1, which is held by host-of-1");
  EXPECT_EQ(version(), "cronlatch-lock 1");
  expect<Released>(one(one.release(first.fence)));
  expect<Granted>(two(with_slots(two, 2)));
}

TEST_F(FileStoreSlots, OfAKilledHolderAreFree) {
  auto first = holder("1", 2), second = holder("2", 2);
  auto three = program("3");
  expect<Busy>(three(with_slots(three, 2)));
  second->end(SIGKILL);
  EXPECT_EQ(three.show().state, LockState::held);
  ++three.claim().attempt;
  EXPECT_TRUE(expect<Granted>(three(with_slots(three, 2))).stole);
  EXPECT_EQ(three.count("stolen"), 1);
  EXPECT_EQ(open_grants(three), 2);
}

// A killed holder does not keep its identity.
TEST_F(FileStoreSlots, AreGrantedToAnIdentityWhoseRunWasKilled) {
  auto two = program("2");
  const auto claim = [&] {
    Acquire request = with_slots(two, 2);
    request.identity.once = "monday";
    return two(request);
  };
  Gate has_it;
  Child holder([&] {
    Caller one = program("1");
    Acquire request = with_slots(one, 2);
    request.identity.once = "monday";
    if (!std::holds_alternative<Granted>(one(request).value())) return 1;
    has_it.open();
    pause();
    return 0;
  });
  has_it.wait();
  EXPECT_EQ(expect<Busy>(claim()).reason, BusyReason::held);
  holder.end(SIGKILL);
  ++two.claim().attempt;
  expect<Granted>(claim());
}

// Slot 1 was released by a later run than the holder of slot 2.
TEST_F(FileStoreSlots, AreShownWithTheirLiveHolder) {
  auto one = program("1"), three = program("3");
  const Granted first = expect<Granted>(one(with_slots(one, 2)));
  auto second = holder("2", 2);
  expect<Released>(one(one.release(first.fence)));
  const Granted third = expect<Granted>(three(with_slots(three, 2)));
  expect<Released>(three(three.release(third.fence)));

  LockView view = three.show();
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_EQ(view.identity.holder, "host-of-2");
  EXPECT_EQ(view.fence, third.fence) << "of the last grant";
  EXPECT_NE(view.pid, 0);
  const auto refused = three.backend().revoke("a/b", boot_now() + kPatience);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("(host-of-2)"), std::string::npos)
      << refused.error().message;

  second->end(SIGKILL);
  view = three.show();
  EXPECT_EQ(view.state, LockState::expired);
  EXPECT_EQ(view.identity.holder, "host-of-2");
}

TEST_F(FileStoreSlots, OfKilledHoldersAreCountedAsStolenByANewNumber) {
  auto first = holder("1", 2), second = holder("2", 2);
  first->end(SIGKILL);
  second->end(SIGKILL);
  auto three = program("3");
  EXPECT_EQ(three.show().state, LockState::expired);
  EXPECT_EQ(three.show().grants.size(), 2U);
  expect<Granted>(three(with_slots(three, 1)));
  EXPECT_EQ(three.count("stolen"), 2);
  EXPECT_EQ(breach_of_law(three.show(), true), "");
  EXPECT_EQ(version(), "cronlatch-lock 1");
}

TEST_F(FileStoreSlots, HaveRisingFencesAfterABackwardStepOfTheClock) {
  auto one = program("1"), two = program("2"), three = program("3");
  const Fence first = expect<Granted>(one(with_slots(one, 3))).fence;
  world_.pass(Millis(-60'000));
  const Fence second = expect<Granted>(two(with_slots(two, 3))).fence;
  expect<Released>(two(two.release(second)));
  const Fence third = expect<Granted>(three(with_slots(three, 3))).fence;
  EXPECT_GT(second, first);
  EXPECT_GT(third, second);
  expect<Released>(one(one.release(first)));
  expect<Released>(three(three.release(third)));
  ++one.claim().attempt;
  EXPECT_GT(expect<Granted>(one(with_slots(one, 1))).fence, third);
}

TEST_F(FileStoreSlots, ShareFinishedIdentities) {
  auto one = program("1"), two = program("2");
  one.identity().once = two.identity().once = "tick";
  const Granted granted = expect<Granted>(one(with_slots(one, 2)));
  expect<Released>(one(one.release(granted.fence)));
  EXPECT_EQ(expect<Busy>(two(with_slots(two, 2))).reason, BusyReason::done);
}

TEST_F(FileStoreSlots, AreClosedByAMinHoldOneByOne) {
  const Millis minute(60'000);
  auto one = program("1"), two = program("2"), three = program("3");
  Acquire held_long = with_slots(one, 2);
  held_long.min_hold = minute;
  Release release = one.release(expect<Granted>(one(held_long)).fence);
  release.min_hold = minute;
  expect<Released>(one(release));
  EXPECT_EQ(one.show().state, LockState::free) << "slot 2 is free";

  const Granted second = expect<Granted>(two(with_slots(two, 2)));
  EXPECT_TRUE(is_kernel_lock_free(file(".lock")));
  EXPECT_FALSE(is_kernel_lock_free(file(".2.slot")));
  expect<Busy>(three(with_slots(three, 2)));
  expect<Released>(two(two.release(second.fence)));
  // Another number does not end it
  ++three.claim().attempt;
  EXPECT_EQ(expect<Busy>(three(with_slots(three, 1))).reason, BusyReason::cooling);
  world_.pass(minute);
  ++three.claim().attempt;
  expect<Granted>(three(with_slots(three, 1)));
}

TEST_F(FileStoreSlots, AreNotFreedByForceWhileAProcessHoldsOne) {
  auto first = holder("1", 3), second = holder("2", 3);
  auto three = program("3");
  const auto revoked = three.backend().revoke("a/b", boot_now() + kPatience);
  ASSERT_FALSE(revoked.ok());
  const std::string pids[] = {std::to_string(first->pid()), std::to_string(second->pid())};
  EXPECT_EQ(revoked.error().message, "lock a/b is held by the processes " + pids[0] + ", " +
                                         pids[1] + "; a lock in a file cannot be revoked");
  EXPECT_EQ(revoked.error().hint, "stop them: kill " + pids[0] + " " + pids[1]);
}

TEST_F(FileStoreSlots, AreAllOpenedByForceDuringAMinHold) {
  const Millis minute(60'000);
  auto first = holder("1", 2, minute), second = holder("2", 2, minute);
  first->end(SIGKILL);
  second->end(SIGKILL);
  auto three = program("3");
  EXPECT_EQ(expect<Busy>(three(with_slots(three, 2))).reason, BusyReason::cooling);
  const auto revoked = three.backend().revoke("a/b", boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_TRUE(revoked->was_cooling);
  EXPECT_EQ(three.count("revoked"), 2);
  EXPECT_EQ(open_grants(three), 0);
  auto four = program("4");
  ++three.claim().attempt;
  expect<Granted>(three(with_slots(three, 2)));
  expect<Granted>(four(with_slots(four, 2)));
}

// The other slot is free, but a run with another number of slots is excluded.
TEST_F(FileStoreSlots, AMinHoldBesideAFreeSlotIsEndedByForce) {
  const Millis minute(60'000);
  auto one = program("1"), two = program("2");
  Acquire held_long = with_slots(one, 2);
  held_long.min_hold = minute;
  Release release = one.release(expect<Granted>(one(held_long)).fence);
  release.min_hold = minute;
  expect<Released>(one(release));
  EXPECT_EQ(two.show().state, LockState::free);
  EXPECT_EQ(two.show().closed_slots.size(), 1u);
  EXPECT_EQ(expect<Busy>(two(with_slots(two, 1))).reason, BusyReason::cooling);
  const auto revoked = two.backend().revoke("a/b", boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_TRUE(revoked->was_cooling);
  EXPECT_EQ(two.show().closed_slots.size(), 0u);
  ++two.claim().attempt;
  expect<Granted>(two(with_slots(two, 1)));
}

TEST_F(FileStoreSlots, AreRefusedForAFileOfAnotherProgram) {
  Caller one(world_, "_file" + (world_.dir / "other"), "1");
  EXPECT_EQ(expect_unavailable(one(with_slots(one, 2))).error.message,
            "slots: 2 is above 1, and a lock-file has one holder");
}

// Each process has a file while it holds a slot.
int contend(FileWorld& world, int number, TimePoint end, unsigned slots) {
  const TimePoint hangs = end + kPatience;
  Caller one(world, "a/b", "owner-" + std::to_string(number));
  const std::filesystem::path inside = world.dir / "inside";
  const std::string marker = inside / std::to_string(number);
  const std::filesystem::path saw_all = world.dir / "saw-all";
  int grants = 0;
  // Ends when one of the processes has seen a holder in each slot.
  const auto may_end = [&] { return boot_now() >= end && grants > 0 && exists(saw_all); };
  for (; !may_end() && boot_now() < hangs; ++one.claim().attempt) {
    Acquire request = one.acquire();
    request.if_busy = IfBusy::wait;
    request.slots = slots;
    const std::optional<Reply> reply = one(request);
    if (!reply) return 101;
    if (std::holds_alternative<Busy>(*reply)) continue;
    const auto* got = std::get_if<Granted>(&*reply);
    if (got == nullptr) return 102;
    write_file(marker, "");
    std::size_t holders = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(inside))
      ++holders;
    if (holders > slots) return 103;
    if (holders == slots) write_file(saw_all, "");
    usleep(5'000);  // long enough for others to enter, also on a slow machine
    unlink(marker.c_str());
    if (!std::holds_alternative<Released>(one(one.release(got->fence)).value())) return 104;
    ++grants;
  }
  return grants == 0 ? 1 : 0;
}

TEST_F(FileStoreSlots, AreGrantedToFiveOfTwentyAtATime) {
  std::filesystem::create_directory(world_.dir / "inside");
  const TimePoint end = boot_now() + Millis(1'000);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 20; ++i)
    children.push_back(std::make_unique<Child>([&, i] { return contend(world_, i, end, 5); }));
  for (auto& child : children) EXPECT_EQ(child->join(), 0);
  EXPECT_TRUE(std::filesystem::exists(world_.dir / "saw-all")) << "the slots were never all in use";
  Caller one = program("x");
  EXPECT_EQ(open_grants(one), 0);
  EXPECT_EQ(one.count("stolen"), 0);
  EXPECT_EQ(version(), "cronlatch-lock 1");
}

}  // namespace
}  // namespace cronlatch::testing
