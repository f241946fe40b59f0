// SPDX-License-Identifier: Apache-2.0
// The error matrix of a quorum, for every verb.
#include "contract/error_checks.h"
#include "contract/quorum_error_cases.h"

namespace cronlatch::testing {
namespace {

class QuorumErrors : public ErrorChecks<QuorumServers> {};

TEST_P(QuorumErrors, HaveTheListedOutcome) { expect_listed_for_every_verb(); }

INSTANTIATE_TEST_SUITE_P(Cases, QuorumErrors, ::testing::ValuesIn(quorum_error_cases()),
                         [](const auto& error_case) { return name_of_case(error_case.param); });

// The controls: the other two are a majority, whatever the error is.
TEST(QuorumErrorsOfOneServer, DoNotMatter) {
  for (const ScriptError& each : script_errors()) {
    SCOPED_TRACE(each.name);
    const QuorumServers servers({nullptr, RedisPeer::to_eval(each.answer), nullptr});
    StoreSpec spec = spec_of(servers.url());
    spec.max_ttl = {};
    RedisProgram run(spec);
    const auto granted = run(run.program.acquire());
    ASSERT_NE(granted_in(granted), nullptr) << reply_text(granted);
    const Fence fence = granted_in(granted)->fence;
    const auto renewed = run(run.program.renew(fence));
    EXPECT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed)) << reply_text(renewed);
    const auto released = run(run.program.release(fence));
    EXPECT_TRUE(released && std::holds_alternative<Released>(*released)) << reply_text(released);
  }
}

}  // namespace
}  // namespace cronlatch::testing
