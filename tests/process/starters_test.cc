// SPDX-License-Identifier: Apache-2.0
// Many processes that start at the same time, on each kind of store: exactly one of them runs its
// command. The timeouts are long, because a slow machine is no reason to fail.
#include <memory>

#include "each_store.h"

namespace cronlatch::testing {
namespace {

class Starters : public OnEachStore {
 protected:
  Words options() const {
    const bool is_quorum = std::string(GetParam()) == "Quorum";
    const std::string ttl = is_quorum ? std::to_string(kQuorumMaxTtl) + "s" : "5m";
    const std::string op_timeout = is_quorum ? "5s" : "30s";
    Words words = {"--ttl", ttl, "--op-timeout", op_timeout, "--connect-timeout", "30s"};
    words.insert(words.end(), needed.begin(), needed.end());
    return words;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, Starters,
                         ::testing::Values("File", "Redis", "Sentinel", "Strict", "Cluster",
                                           "Quorum", "Postgres"),
                         name_of_store);

TEST_P(Starters, S1_OfAHundredAtOnceExactlyOneRuns) {
  // Given
  constexpr int kStarters = 100;
  std::vector<std::unique_ptr<Program>> starters;
  // When
  for (int i = 0; i < kStarters; ++i)
    starters.push_back(
        std::make_unique<Program>(run(options(), {"to", file(), "say", "ran", "await", go()})));
  ASSERT_TRUE(told("ran")) << starters.front()->err();
  const auto ended = [&starters] {
    int n = 0;
    for (const auto& each : starters) n += each->exit_code(0ms).has_value() ? 1 : 0;
    return n;
  };
  const bool all_but_one = eventually([&] { return ended() == kStarters - 1; }, 60s);
  touch(go());
  // Then
  EXPECT_TRUE(all_but_one) << ended();
  int skipped = 0;
  for (const auto& each : starters) {
    EXPECT_EQ(each->exit_code(), 0) << each->err();
    skipped += each->err().find("skipped") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(skipped, kStarters - 1);
  EXPECT_EQ(count(read_file(file()), "ran\n"), 1u);
}

}  // namespace
}  // namespace cronlatch::testing
