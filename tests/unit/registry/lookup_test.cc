// SPDX-License-Identifier: Apache-2.0
// What is remembered, who waits, and who does not.
#include "registry/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "support/hand_clock.h"
#include "support/program.h"

namespace cronlatch::registry {
namespace {

using cronlatch::testing::eventually;
using cronlatch::testing::HandClock;
using Kind = Told::Kind;

// A registry that answers when it is let.
class Registry {
 public:
  Ask ask() {
    return [this](const Question& question, TimePoint, const std::stop_token& stop) {
      ++asked;
      std::unique_lock lock(mutex_);
      while (shut_ && !stop.stop_requested()) changed_.wait_for(lock, std::chrono::milliseconds(5));
      if (stop.stop_requested()) return Result<Looked>(Error{Code::unreachable, "stopped"});
      if (down_) return Result<Looked>(Error{Code::unreachable, "it is down"});
      return Result<Looked>(Looked{"sha256:" + question.image.tag + std::to_string(version_),
                                   {{"amd64", {{command_}, {}}}}});
    };
  }
  void shut(bool is) {
    set([&] { shut_ = is; });
  }
  void down(bool is) {
    set([&] { down_ = is; });
  }
  void push(const std::string& command) {
    set([&] { command_ = command, ++version_; });
  }
  std::atomic<int> asked{0};

 private:
  template <class Change>
  void set(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false, down_ = false;
  int version_ = 1;
  std::string command_ = "/one";
};

Question question(const std::string& image) {
  return {*image::parse_reference("r.example/" + image), {"amd64"}};
}

class LookupTest : public ::testing::Test {
 protected:
  Told find(const std::string& image, Millis patience = Millis(1'000'000)) {
    return lookup_->find(question(image), clock_.now() + patience);
  }
  Told at_once(const std::string& image) { return find(image, Millis(0)); }
  void begin(LookupTiming timing = {}) {
    lookup_.emplace(Lookup::Parts{registry_.ask(), {}, clock_}, timing);
    lookup_->start();
  }
  HandClock clock_;
  Registry registry_;
  std::optional<Lookup> lookup_;
};

TEST_F(LookupTest, AsksOnceAndRemembers) {
  begin();

  const Told first = find("a:1");
  const Told second = at_once("a:1");

  ASSERT_EQ(first.kind, Kind::known);
  EXPECT_FALSE(first.remembered);
  ASSERT_EQ(second.kind, Kind::known);
  EXPECT_TRUE(second.remembered);
  EXPECT_EQ(second.looked, first.looked);
  EXPECT_EQ(registry_.asked, 1);
}

TEST_F(LookupTest, GoesOnWithoutWhoAskedAndAnswersTheNext) {
  registry_.shut(true);
  begin();

  EXPECT_EQ(at_once("a:1").kind, Kind::not_yet);
  EXPECT_EQ(at_once("a:1").kind, Kind::not_yet);
  registry_.shut(false);

  EXPECT_TRUE(eventually([&] { return at_once("a:1").kind == Kind::known; }));
  EXPECT_EQ(registry_.asked, 1);
}

TEST_F(LookupTest, KeepsAnAnswerWhileTheRegistryIsDownAndWaitsForNothing) {
  begin();
  ASSERT_EQ(find("a:1").kind, Kind::known);
  registry_.shut(true);
  clock_.pass(Millis(3'600'000));

  const Told told = find("a:1");

  EXPECT_EQ(told.kind, Kind::known);
  EXPECT_TRUE(told.remembered);
  EXPECT_TRUE(eventually([&] { return registry_.asked == 2; }));  // behind its back
  registry_.shut(false);
}

TEST_F(LookupTest, SeesATagThatMovedAfterAWhile) {
  begin();
  ASSERT_EQ(find("a:1").looked.on[0].startup.entrypoint[0], "/one");
  registry_.push("/two");
  EXPECT_EQ(at_once("a:1").looked.on[0].startup.entrypoint[0], "/one");

  clock_.pass(Millis(300'000));

  EXPECT_TRUE(
      eventually([&] { return at_once("a:1").looked.on[0].startup.entrypoint[0] == "/two"; }));
}

TEST_F(LookupTest, NeverLooksAtADigestAgain) {
  begin();
  const std::string image = "a@sha256:" + std::string(64, 'a');
  ASSERT_EQ(find(image).kind, Kind::known);
  clock_.pass(Millis(3'600'000));

  EXPECT_EQ(at_once(image).kind, Kind::known);
  ASSERT_EQ(find("b:1").kind, Kind::known);  // one behind it, so that it would have been asked
  EXPECT_EQ(registry_.asked, 2);
}

TEST_F(LookupTest, TellsAFailureForAWhileAndThenAsksAgain) {
  registry_.down(true);
  begin();
  const Told failed = find("a:1");
  ASSERT_EQ(failed.kind, Kind::failed);
  EXPECT_EQ(failed.why, "it is down");
  registry_.down(false);

  EXPECT_EQ(at_once("a:1").kind, Kind::failed);
  EXPECT_EQ(registry_.asked, 1);
  clock_.pass(Millis(10'000));

  EXPECT_EQ(find("a:1").kind, Kind::known);
}

TEST_F(LookupTest, MakesOnlyAFewWaitAndTellsTheOthersAtOnce) {
  registry_.shut(true);
  begin({.threads = 1, .waiting = 1});
  std::jthread waiting([&] { EXPECT_EQ(find("a:1").kind, Kind::known); });
  ASSERT_TRUE(eventually([&] { return registry_.asked == 1; }));

  // The clock stands: whoever waited here would wait for ever.
  EXPECT_TRUE(eventually([&] { return find("b:1", Millis(0)).kind == Kind::not_yet; }));
  EXPECT_EQ(find("b:1").kind, Kind::not_yet);
  registry_.shut(false);
}

TEST_F(LookupTest, RefusesMoreThanItsQueueHolds) {
  registry_.shut(true);
  begin({.threads = 1, .queue = 1});
  EXPECT_EQ(at_once("a:1").kind, Kind::not_yet);
  ASSERT_TRUE(eventually([&] { return registry_.asked == 1; }));
  EXPECT_EQ(at_once("b:1").kind, Kind::not_yet);

  EXPECT_EQ(at_once("c:1").kind, Kind::failed);
  registry_.shut(false);
}

TEST_F(LookupTest, ForgetsTheOldestBeyondItsSize) {
  begin({.remembered = 2});
  for (const char* image : {"a:1", "b:1", "c:1"}) ASSERT_EQ(find(image).kind, Kind::known);

  ASSERT_EQ(find("a:1").kind, Kind::known);

  EXPECT_EQ(registry_.asked, 4);
}

TEST_F(LookupTest, LeavesRoomBesideARegistryThatDoesNotAnswer) {
  registry_.shut(true);
  begin({.threads = 4});
  for (const char* image : {"a:1", "b:1", "c:1", "d:1", "e:1"})
    ASSERT_EQ(at_once(image).kind, Kind::not_yet);
  ASSERT_TRUE(eventually([&] { return registry_.asked == 2; }));

  (void)lookup_->find({*image::parse_reference("other.example/a"), {"amd64"}}, clock_.now());

  EXPECT_TRUE(eventually([&] { return registry_.asked == 3; }));
  registry_.shut(false);
}

TEST_F(LookupTest, StopsWhoeverWaits) {
  registry_.shut(true);
  begin();
  // The answer of the look-up that was stopped may arrive before the waiter is woken.
  std::jthread waiting([&] { EXPECT_NE(find("a:1").kind, Kind::known); });
  ASSERT_TRUE(eventually([&] { return registry_.asked == 1; }));

  lookup_->stop();
}

}  // namespace
}  // namespace cronlatch::registry
