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

TEST(Election, CreatesTheLeaseAndLeads) {
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

TEST(Election, DoesNotLeadWhileTheHolderRenewsWithAnyRenewTime) {
  Scene scene;
  scene.one.step();
  for (int i = 0; i < 20; ++i) {
    scene.one.step();
    // The clocks of two hosts differ
    Json lease = *scene.api.at(kLease);
    lease["spec"]["renewTime"] = "1999-01-01T00:00:" + std::to_string(10 + i) + ".000000Z";
    scene.api.put(kLease, lease);
    scene.two.step();
    scene.clock.pass(2s);

    EXPECT_TRUE(scene.one.leading());
    EXPECT_FALSE(scene.two.leading());
  }
}

TEST(Election, TakesOverAnUnchangedLeaseByTheLocalClock) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(1h);  // two was not there: it has seen nothing yet
  scene.two.step();
  EXPECT_FALSE(scene.two.leading());
  scene.clock.pass(14s);
  EXPECT_EQ(scene.two.step(), 1s);  // not later than its expiry
  EXPECT_FALSE(scene.two.leading());
  scene.clock.pass(1s);

  scene.two.step();

  EXPECT_TRUE(scene.two.leading());
  EXPECT_EQ(scene.transitions(), 1);
  EXPECT_NE(scene.spec("acquireTime"), "");
}

TEST(Election, StopsLeadingAfterTenSecondsWhileACallBlocks) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(9'999ms);
  EXPECT_TRUE(scene.one.leading());

  scene.clock.pass(1ms);

  EXPECT_FALSE(scene.one.leading());
}

TEST(Election, HasOneLeaderWhileAReplicaIsDisconnected) {
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

TEST(Election, DoesNotLeadAfterAConflict) {
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

TEST(Election, BeginsANewTermAfterALostOne) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(11s);
  EXPECT_FALSE(scene.one.leading());

  scene.one.step();

  EXPECT_TRUE(scene.one.leading());
  EXPECT_EQ(scene.one.term(), 2U);
}

TEST(Election, ReleasesTheLeaseForTheNextLeader) {
  Scene scene;
  scene.one.step();
  scene.two.step();

  scene.one.release();
  scene.two.step();

  EXPECT_FALSE(scene.one.leading());
  EXPECT_TRUE(scene.two.leading());
}

TEST(Election, ReleasesNoLeaseOfAnotherReplica) {
  Scene scene;
  scene.one.step();
  scene.two.step();
  scene.api.forget_requests();

  scene.two.release();

  EXPECT_TRUE(scene.api.writes().empty());
  EXPECT_EQ(scene.spec("holderIdentity"), "one");
}

TEST(Election, LimitsEachAttemptToTheRestOfTheTerm) {
  Scene scene;
  scene.one.step();
  scene.clock.pass(8s);
  scene.api.forget_requests();

  scene.one.step();

  EXPECT_EQ(scene.api.requests().front().deadline, 2s);
}

TEST(Election, SavesTheCheckpointForTheNextLeader) {
  Scene scene;
  scene.one.step();
  scene.one.set_checkpoint("seven");
  EXPECT_EQ(scene.one.saved_checkpoint(), "");
  scene.one.step();
  EXPECT_EQ(scene.one.saved_checkpoint(), "seven");
  scene.one.step();  // renewals keep it
  scene.one.release();

  scene.two.step();

  EXPECT_EQ(scene.two.saved_checkpoint(), "seven");
}

TEST(Election, DiscardsACheckpointOfAnEndedTerm) {
  Scene scene;
  scene.one.step();
  scene.one.set_checkpoint("late");
  scene.clock.pass(11s);

  scene.one.step();
  scene.one.step();

  EXPECT_EQ(scene.one.saved_checkpoint(), "");
}

}  // namespace
}  // namespace cronlatch::kube
