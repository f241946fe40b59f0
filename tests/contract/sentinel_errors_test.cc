// SPDX-License-Identifier: Apache-2.0
// The error matrix of a store with Sentinels, for every verb.
#include "contract/error_checks.h"
#include "contract/sentinel_error_cases.h"

namespace cronlatch::testing {
namespace {

class SentinelErrors : public ErrorChecks<SentinelServers> {};

TEST_P(SentinelErrors, HaveTheListedOutcome) { expect_listed_for_every_verb(); }

INSTANTIATE_TEST_SUITE_P(Cases, SentinelErrors, ::testing::ValuesIn(sentinel_error_cases()),
                         [](const auto& error_case) { return name_of_case(error_case.param); });

// The controls: one Sentinel of three that returns an error does not matter.
TEST(SentinelErrorsOfOne, DoNotMatter) {
  const auto master = answers("EVAL", kScriptedGrant, answers("HELLO", hello_of("standalone")));
  for (const std::string& answer :
       {std::string("*-1\r\n"), error_answer("NOAUTH Authentication required."),
        error_answer("IDONTKNOW"), std::string("+OK\r\n"), RedisPeer::kHangUp}) {
    SCOPED_TRACE(answer);
    const SentinelServers servers({sentinel_that(answer), nullptr, nullptr, master});
    RedisProgram run(spec_of(servers.url()));
    const auto reply = run(run.program.acquire());
    EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  }
}

}  // namespace
}  // namespace cronlatch::testing
