// SPDX-License-Identifier: Apache-2.0
// What `explain` prints beside its decision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/subcommand.h"
#include "unit/cli/fixed_clock.h"

namespace cronlatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// No server listens there.
constexpr const char* kNowhere = "redis://127.0.0.1:1";

std::string explained(const std::string& store) {
  const FixedClock clock;
  const Result<CommandOutput> printed = find_subcommand("explain")->function(
      {{"--isolated", "--lock", "a", "--connect-timeout", "100ms", "--store", store}, {}, clock});
  return printed.ok() ? printed->text : printed.error().message;
}

// A view of the lock does not contain when a server started.
TEST(Explain, OfAQuorumContainsWhatOnlyARunChecks) {
  const std::string quorum = std::string(kNowhere) + ",redis://127.0.0.1:2,redis://127.0.0.1:3";
  EXPECT_THAT(explained(quorum), HasSubstr("a server that started less than 10m ago (max-ttl)"));
  EXPECT_THAT(explained(kNowhere), Not(HasSubstr("max-ttl")));
}

}  // namespace
}  // namespace cronlatch
