// SPDX-License-Identifier: Apache-2.0
#include "store/quorum/votes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::quorum {
namespace {

using ::testing::HasSubstr;

Reply granted(Fence fence = 1) { return Granted{.fence = fence}; }
Reply held_by(const std::string& holder, Fence fence = 1) {
  return Busy{.holder = holder, .fence = fence};
}
Reply down(bool transient = true, bool unsent = false) {
  return Unavailable{{Code::unreachable, "redis at r1: refused"}, transient, unsent};
}
constexpr std::nullopt_t none = std::nullopt;

TEST(Votes, NeedMoreThanHalfOfTheServers) {
  EXPECT_EQ(majority_of(3), 2u);
  EXPECT_EQ(majority_of(5), 3u);
  EXPECT_EQ(majority_of(7), 4u);
}

TEST(Votes, GrantWithAMajorityBeforeTheOthersHaveAnswered) {
  EXPECT_EQ(judge_acquire({granted(), none, none}), Verdict::pending);
  EXPECT_EQ(judge_acquire({granted(), none, granted()}), Verdict::yes);
  EXPECT_EQ(judge_acquire({granted(), down(), granted()}), Verdict::yes);
  EXPECT_EQ(judge_acquire({granted(), held_by("a"), none}), Verdict::pending);
}

TEST(Votes, RefuseOnceAMajorityHasAnsweredAndNoneCanGrant) {
  EXPECT_EQ(judge_acquire({held_by("a"), held_by("a"), none}), Verdict::no);
  EXPECT_EQ(judge_acquire({held_by("a"), granted(), down()}), Verdict::no);
  EXPECT_EQ(judge_acquire({TooLate{true}, granted(), down()}), Verdict::no);
  EXPECT_EQ(judge_acquire({held_by("a"), down(), none}), Verdict::pending);
  EXPECT_EQ(judge_acquire({held_by("a"), down(), down()}), Verdict::unavailable);
  EXPECT_EQ(judge_acquire({granted(), down(), down()}), Verdict::unavailable);
}

TEST(Votes, RefuseAnIdentityThatOneServerHasAsFinished) {
  EXPECT_EQ(judge_acquire({Busy{.reason = BusyReason::done}, none, none}), Verdict::no);
  const Replies replies{granted(), Busy{.reason = BusyReason::done}, held_by("a", 9)};
  EXPECT_EQ(judge_acquire(replies), Verdict::no);
  const auto contention = find_contention(replies);
  EXPECT_TRUE(contention->is_decided);
  EXPECT_EQ(contention->busy.reason, BusyReason::done);
}

TEST(Votes, OfOneServerUnderTwoNamesAreFound) {
  const auto by = [](const std::string& server) {
    Granted grant;
    grant.server = server;
    return Reply(grant);
  };
  EXPECT_EQ(same_server({by("a"), held_by("x"), by("a")}), std::pair(0ul, 2ul));
  EXPECT_EQ(same_server({none, by("b"), by("b")}), std::pair(1ul, 2ul));
  EXPECT_EQ(same_server({by("a"), by("b"), down()}), std::nullopt);
  EXPECT_EQ(same_server({granted(), granted(), granted()}), std::nullopt) << "unknown servers";
}

// A lease is not lost while a server that did not answer can still have it.
TEST(Votes, LoseALeaseWhenAMajorityRefuses) {
  const Reply lost = NotHolder{LostReason::taken};
  EXPECT_EQ(judge_renew({Renewed{}, lost, down()}), Verdict::unavailable);
  EXPECT_EQ(judge_renew({Renewed{}, lost, none}), Verdict::pending);
  EXPECT_EQ(judge_renew({lost, lost, none}), Verdict::no);
  EXPECT_EQ(judge_renew({Renewed{}, lost, Renewed{}}), Verdict::yes);
  EXPECT_EQ(loss_of({NotHolder{LostReason::taken}, NotHolder{LostReason::revoked}, none}),
            LostReason::revoked);
}

TEST(Votes, AreReleasedWhoeverHoldsTheLock) {
  EXPECT_EQ(judge_release({Released{}, NotHolder{}, none}), Verdict::yes);
  EXPECT_EQ(judge_release({Released{}, down(), none}), Verdict::pending);
  EXPECT_EQ(judge_release({Released{}, down(), down()}), Verdict::unavailable);
}

TEST(Contention, IsDecidedWhenARunHasAMajority) {
  EXPECT_TRUE(find_contention({held_by("a", 5), held_by("a", 7), granted()})->is_decided);
  EXPECT_EQ(find_contention({held_by("a", 5), held_by("a", 7), granted()})->busy.fence, 7u);
  EXPECT_FALSE(find_contention({held_by("a"), held_by("b"), granted()})->is_decided);
  EXPECT_FALSE(find_contention({granted(), TooLate{}, down()}));
}

TEST(Contention, IsLedByOneRun) {
  // The caller and a have two servers each: the caller has the lowest one.
  EXPECT_TRUE(find_contention({granted(), held_by("a"), held_by("a"), granted(), held_by("b")})
                  ->is_leading);
  EXPECT_FALSE(find_contention({held_by("a"), granted(), granted(), held_by("a"), held_by("b")})
                   ->is_leading);
  EXPECT_TRUE(find_contention({held_by("a"), granted(), granted(), held_by("b"), held_by("c")})
                  ->is_leading);
  EXPECT_FALSE(find_contention({held_by("a"), held_by("b"), down()})->is_leading);
}

TEST(Contention, KeepsTheFlagOfAGroupThatAnyServerKnows) {
  Busy known{.holder = "a"};
  known.group_granted = true;
  EXPECT_TRUE(find_contention({Reply(known), held_by("a", 9), none})->busy.group_granted);
}

TEST(Votes, NameTheServersThatAreMissing) {
  const Unavailable failure = unavailable_of({granted(), down(), down()});
  EXPECT_TRUE(failure.transient);
  EXPECT_FALSE(failure.unsent);
  EXPECT_THAT(failure.error.message,
              HasSubstr("has 3 servers and needs 2; 2 did not execute the request: redis at r1"));
  EXPECT_TRUE(unavailable_of({down(true, true), down(true, true), down(true, true)}).unsent);
}

// One server that refuses the login is an outage of one server, two of three are a configuration.
TEST(Votes, FailForGoodWhenTooManyServersNeedTheUser) {
  EXPECT_TRUE(unavailable_of({granted(), down(false), down()}).transient);
  EXPECT_FALSE(unavailable_of({granted(), down(false), down(false)}).transient);
}

TEST(Votes, UseTheHighestFence) {
  EXPECT_EQ(highest_fence({granted(5), held_by("a", 99), granted(8)}), 8u);
}

}  // namespace
}  // namespace cronlatch::quorum
