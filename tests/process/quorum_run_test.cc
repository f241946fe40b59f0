// SPDX-License-Identifier: Apache-2.0
// Runs on a quorum of three servers, of which some are down, and runs that start together.
#include <memory>
#include <thread>

#include "gated.h"
#include "support/quorum_group.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class QuorumRun : public Gated {
 protected:
  static constexpr int kMaxTtl = 5;  // seconds
  void SetUp() override {
    store = group.url();
    ASSERT_TRUE(group.run_for(kMaxTtl));
  }
  static Words options(const Words& more = {}) {
    Words words = {"--ttl", "5s", "--renew-every", "300ms", "--max-ttl", "5s"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::string lock() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  ProgramSpec run(const Words& options, const Words& words) const {
    ProgramSpec spec = Gated::run(options, words);
    spec.argv[3] = lock();
    return spec;
  }
  std::string field(std::size_t server, const std::string& name) {
    return redis_command(group[server].port(), {"HGET", "cronlatch:{" + lock() + "}", name}).text;
  }

  QuorumGroup& group = QuorumGroup::shared();
};

TEST_F(QuorumRun, KeepsTheLockWhileOneServerIsDown) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  // when
  group[0].kill_now();
  const std::string expires = field(1, "expires");
  ASSERT_TRUE(eventually([&] { return field(1, "expires") > expires; })) << holder.err();
  // then
  Program other(run(options({"--on-busy", "fail"}), {"exit", "0"}));
  EXPECT_EQ(other.exit_code(), 75) << other.err();
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  Program next(run(options({"--on-busy", "fail"}), {"exit", "0"}));
  EXPECT_EQ(next.exit_code(), 0) << next.err();
}

TEST_F(QuorumRun, StopsTheCommandWhenAMajorityIsDownAndANewRunExits69) {
  Program holder(run(options(), {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  // when
  group[0].kill_now();
  group[2].kill_now();
  // then
  Program other(run(options({"--connect-timeout", "1s"}), {"exit", "0"}));
  EXPECT_EQ(other.exit_code(), 69) << other.err();
  EXPECT_THAT(other.err(), HasSubstr("the quorum has 3 servers and needs 2"));
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
}

TEST_F(QuorumRun, StartsTheCommandOfOneOfManyRuns) {
  std::vector<std::unique_ptr<Program>> starters;
  for (int i = 0; i < 15; ++i)
    starters.push_back(std::make_unique<Program>(
        run(options({"--kill-after", "1s"}), {"touch", file(), "await", go()})));
  ASSERT_TRUE(eventually([&] { return exists(file()); }));
  int skipped = 0;
  const auto count_skipped = [&] {
    skipped = 0;
    for (const auto& starter : starters) skipped += starter->complains("skipped") ? 1 : 0;
    return skipped == 14;
  };
  EXPECT_TRUE(eventually(count_skipped)) << skipped << " of 14 were skipped";
  touch(go());
  for (const auto& starter : starters) EXPECT_EQ(starter->exit_code(), 0) << starter->err();
}

TEST_F(QuorumRun, RefusesAListThatIsNoQuorum) {
  store = "redis://127.0.0.1:1,redis://127.0.0.1:2";
  Program two(run(options(), {"touch", file()}));
  EXPECT_EQ(two.exit_code(), 78);
  EXPECT_THAT(two.err(), HasSubstr("it has 2 servers; set 3, 5 or 7"));
  store = group.url();
  Program long_lease(run({"--ttl", "20m"}, {"touch", file()}));
  EXPECT_EQ(long_lease.exit_code(), 78);
  EXPECT_THAT(long_lease.err(), HasSubstr("ttl: 20m is above max-ttl, which is 10m"));
  EXPECT_FALSE(exists(file()));
}

TEST_F(QuorumRun, RefusesOneServerUnderTwoNamesAndLeavesNoGrant) {
  const std::string port = std::to_string(group[0].port());
  store = "redis://127.0.0.1:" + port + ",redis://localhost:" + port +
          ",redis://127.0.0.1:" + std::to_string(group[1].port());
  Program twice(run(options({"--on-store-down", "run"}), {"touch", file()}));
  EXPECT_EQ(twice.exit_code(), 78);
  EXPECT_THAT(twice.err(),
              HasSubstr("127.0.0.1:" + port + " and localhost:" + port + " are the same server"));
  EXPECT_FALSE(exists(file()));
  for (const std::size_t server : {0u, 1u}) EXPECT_EQ(field(server, "state"), "free");
}

}  // namespace
}  // namespace cronlatch::testing
