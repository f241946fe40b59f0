// SPDX-License-Identifier: Apache-2.0
#include "operator/other_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::HandClock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LockView held_by(const std::string& holder) {
  LockView view;
  view.lock = "shop/nightly";
  view.identity.holder = holder;
  return view;
}

TEST(OtherClusters, AreThoseInTheHolders) {
  LockView slots = held_by("shop/a@eu-1");
  slots.grants.emplace_back();
  slots.grants.back().identity.holder = "shop/b@us-2";
  EXPECT_THAT(other_clusters({held_by("shop/a@eu-1"), slots, held_by("shop/c@ap-3")}, "eu-1"),
              ElementsAre("ap-3", "us-2"));
}

// A run outside of Kubernetes, a run that an earlier version gated, and any text with the option
// holder.
TEST(OtherClusters, AreNotFoundInOtherHolders) {
  EXPECT_THAT(
      other_clusters({held_by(""), held_by("db-1:4711:3f0a"), held_by("shop/nightly-29-abc"),
                      held_by("me@host"), held_by("me@host/x"), held_by("shop/a@"),
                      held_by("shop/a@b c"), held_by("shop/a@" + std::string(64, 'x'))},
                     "eu-1"),
      IsEmpty());
}

TEST(OtherClusters, AreLimited) {
  std::vector<LockView> locks;
  for (int i = 0; i < 100; ++i) locks.push_back(held_by("shop/a@c" + std::to_string(i)));
  EXPECT_THAT(other_clusters(locks, "eu-1"), SizeIs(20));
}

TEST(OtherClustersNotice, LogsEachClusterOnce) {
  HandClock clock;
  std::vector<std::string> logged;
  const Log log(LogFormat::logfmt, Level::info, clock,
                [&](std::string_view line) { logged.emplace_back(line); });
  OtherClustersNotice notice(log);

  notice.update({held_by("shop/a@eu-1")}, "eu-1");
  EXPECT_THAT(logged, IsEmpty());
  for (int read = 0; read < 3; ++read) notice.update({held_by("shop/b@us-2")}, "eu-1");
  notice.update({held_by("shop/b@us-2"), held_by("shop/c@ap-3")}, "eu-1");

  EXPECT_THAT(logged, ElementsAre(HasSubstr("cluster=us-2"), HasSubstr("cluster=ap-3")));
  EXPECT_THAT(logged.front(), HasSubstr("other_cluster"));
  EXPECT_THAT(logged.front(), HasSubstr("separateClusters"));
}

TEST(OtherClustersNotice, IsSilentWithoutAnOwnName) {
  HandClock clock;
  int lines = 0;
  const Log log(LogFormat::logfmt, Level::info, clock, [&](std::string_view) { ++lines; });
  OtherClustersNotice(log).update({held_by("shop/b@us-2")}, "");
  EXPECT_EQ(lines, 0);
}

}  // namespace
}  // namespace cronlatch::op
