// SPDX-License-Identifier: Apache-2.0
#include "kube/election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using namespace std::chrono_literals;

const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/cronlatch/leases";
const std::string kLease = kLeases + "/cronlatch-operator";

struct Scene {
  FakeApi api;
  HandClock clock;
  Election one = candidate("one");
  Election two = candidate("two");

  Election candidate(const std::string& identity) {
    return {api,
            {clock, [] { return 0.5; }, [](Millis, const std::stop_token&) {}},
            {"cronlatch", "cronlatch-operator", "cronlatch.dev/counted-pods"},
            identity};
  }
  std::string spec(const char* key) const { return string_at(*api.at(kLease), {"spec", key}); }
  int transitions() const { return api.at(kLease)->at("spec").at("leaseTransitions"); }
};

TEST(Election, MakesTheLeaseAndLeads) {
  Scene scene;

  const Millis wait = scene.one.step();

  EXPECT_TRUE(scene.one.leading());
  EXPECT_EQ(scene.one.term(), 1U);
  EXPECT_EQ(scene.spec("holderIdentity"), "one");
  EXPECT_EQ(scene.api.at(kLease)->at("spec").at("leaseDurationSeconds"), 15);
  EXPECT_EQ(scene.transitions(), 0);
  EXPECT_GE(wait, 2s);
  EXPECT_LT(wait, 3s);
}

TEST(Election, FollowsWhoeverRenewsHoweverOldTheRenewTimeLooks) {
  Scene scene;
  scene.one.step();
  for (int i = 0; i < 20; ++i) {
    scene.one.step();
    // The clocks of two machines have nothing in common
    Json lease = *scene.api.at(kLease);
    lease["spec"]["renewTime"] = "1999-01-01T00:00:" + std::to_string(10 + i) + ".000000Z";
    scene.api.put(kLease, lease);
    scene.two.step();
    scene.clock.pass(2s);

    EXPECT_TRUE(scene.one.leading());
    EXPECT_FALSE(scene.two.leading());
  }
}

TEST(Election, TakesOverWhenNothingChangedForTheWholeLeaseByItsOwnClock) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(1h);  // two was not there: it has seen nothing yet
  scene.two.step();
  EXPECT_FALSE(scene.two.leading());
  scene.clock.pass(14s);
  scene.two.step();
  EXPECT_FALSE(scene.two.leading());
  scene.clock.pass(1s);

  scene.two.step();

  EXPECT_TRUE(scene.two.leading());
  EXPECT_EQ(scene.transitions(), 1);
  EXPECT_NE(scene.spec("acquireTime"), "");
}

TEST(Election, StopsLeadingWhenItCouldNotRenewForTenSecondsWithoutAnyCallReturning) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(9'999ms);
  EXPECT_TRUE(scene.one.leading());

  scene.clock.pass(1ms);

  EXPECT_FALSE(scene.one.leading());
}

TEST(Election, NeverHasTwoLeadersWhileOneIsCutOff) {
  Scene scene;
  scene.one.step();
  bool cut_off = false;
  scene.api.intercept = [&](const Request&) -> std::optional<FakeApi::Answer> {
    if (cut_off) return FakeApi::unreachable();
    return std::nullopt;
  };
  for (int i = 0; i < 200 && !scene.two.leading(); ++i) {
    cut_off = true;
    scene.one.step();
    cut_off = false;
    scene.two.step();
    EXPECT_FALSE(scene.one.leading() && scene.two.leading());
    scene.clock.pass(200ms);
  }
  EXPECT_TRUE(scene.two.leading());
  EXPECT_FALSE(scene.one.leading());
}

TEST(Election, LosesTheRaceThatTheServerDecides) {
  Scene scene;
  scene.one.step();
  scene.two.step();
  scene.clock.pass(16s);
  // Two reads the lease, and one writes before two does
  bool raced = false;
  scene.api.intercept = [&](const Request& request) -> std::optional<FakeApi::Answer> {
    if (request.method != Method::replace || raced) return std::nullopt;
    raced = true;
    scene.one.step();
    return std::nullopt;
  };

  scene.two.step();

  EXPECT_TRUE(raced);
  EXPECT_TRUE(scene.one.leading());
  EXPECT_FALSE(scene.two.leading());
}

TEST(Election, BeginsANewTermAfterItLostOne) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(11s);
  EXPECT_FALSE(scene.one.leading());

  scene.one.step();

  EXPECT_TRUE(scene.one.leading());
  EXPECT_EQ(scene.one.term(), 2U);
}

TEST(Election, GivesTheLeaseAwaySoThatNobodyWaits) {
  Scene scene;
  scene.one.step();
  scene.two.step();

  scene.one.release();
  scene.two.step();

  EXPECT_FALSE(scene.one.leading());
  EXPECT_TRUE(scene.two.leading());
}

TEST(Election, ReleasesNothingThatIsNotItsOwn) {
  Scene scene;
  scene.one.step();
  scene.two.step();
  scene.api.forget_requests();

  scene.two.release();

  EXPECT_TRUE(scene.api.writes().empty());
  EXPECT_EQ(scene.spec("holderIdentity"), "one");
}

TEST(Election, BoundsEachAttemptByWhatIsLeftOfTheTerm) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(8s);
  scene.api.forget_requests();

  scene.one.step();

  EXPECT_EQ(scene.api.requests().front().deadline, 2s);
}

TEST(Election, SavesTheNoteWithARenewalAndShowsItToTheNextLeader) {
  Scene scene;
  scene.one.step();
  scene.one.write_note("seven");
  EXPECT_EQ(scene.one.saved_note(), "");
  scene.one.step();
  EXPECT_EQ(scene.one.saved_note(), "seven");
  scene.one.step();  // renewals keep it
  scene.one.release();

  scene.two.step();

  EXPECT_EQ(scene.two.saved_note(), "seven");
}

TEST(Election, DropsANoteOfATermThatIsOver) {
  Scene scene;
  scene.one.step();
  scene.one.write_note("late");
  scene.clock.pass(11s);

  scene.one.step();
  scene.one.step();

  EXPECT_EQ(scene.one.saved_note(), "");
}

}  // namespace
}  // namespace cronlatch::kube
