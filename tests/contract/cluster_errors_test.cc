// SPDX-License-Identifier: Apache-2.0
// The error matrix of a Redis Cluster, for every verb. cluster_redirection_test.cc has the
// redirections to a node that fails the checks of TLS.
#include "contract/cluster_error_cases.h"
#include "contract/error_checks.h"

namespace cronlatch::testing {
namespace {

class ClusterErrors : public ErrorChecks<ClusterServers> {};

TEST_P(ClusterErrors, HaveTheListedOutcome) { expect_listed_for_every_verb(); }

INSTANTIATE_TEST_SUITE_P(Cases, ClusterErrors, ::testing::ValuesIn(cluster_error_cases()),
                         [](const auto& error_case) { return name_of_case(error_case.param); });

// The controls: another node of the URL, or another try, executes the request.
TEST(ClusterErrorsOfOneNode, DoNotMatter) {
  const auto node = answers("HELLO", hello_of("cluster"));
  for (const std::string& answer :
       {RedisPeer::kHangUp, hello_of("standalone"), error_answer("NOAUTH Authentication required."),
        error_answer("LOADING Redis is loading the dataset in memory")}) {
    SCOPED_TRACE(answer);
    const ClusterServers servers({answers("HELLO", answer), answers("EVAL", kScriptedGrant, node)});
    RedisProgram run(spec_of(servers.url()));
    const auto reply = run(run.program.acquire());
    EXPECT_NE(granted_in(reply), nullptr) << reply_text(reply);
  }
}

}  // namespace
}  // namespace cronlatch::testing
