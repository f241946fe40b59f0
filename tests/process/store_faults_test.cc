// SPDX-License-Identifier: Apache-2.0
// The real program and a real Redis, with a proxy between them that spoils one reply or request of
// one verb, or several. A long run strikes more of each verb. tests/CMakeLists.txt runs the cases
// of a verb in one process, because they wait much more than they compute.
#include <algorithm>
#include <deque>

#include "fault_trial.h"
#include "store/redis/scripts.h"

namespace cronlatch::testing {
namespace {

// The trials of the selected tests of one verb, several at once, in the order of the tests.
class SideBySide {
 public:
  explicit SideBySide(const ::testing::TestSuite& suite) {
    // So that no first request of a verb is answered by NOSCRIPT.
    for (const scripts::Script& script : {scripts::acquire, scripts::renew, scripts::release})
      EXPECT_FALSE(
          redis_command(redis_->port(), {"SCRIPT", "LOAD", std::string(script.text)}).is_error());
    for (int i = 0; i < suite.total_test_count(); ++i)
      if (suite.GetTestInfo(i)->should_run()) waiting_.push_back(case_of(*suite.GetTestInfo(i)));
    start_some();
  }
  // The oldest one; then the next one starts.
  void judge_next() {
    running_.front()->judge();
    running_.pop_front();
    start_some();
  }

 private:
  static constexpr std::size_t kAtOnce = 80;

  static FaultCase case_of(const ::testing::TestInfo& test) {
    const std::string name =
        std::string(test.name()).substr(std::string(test.name()).find('/') + 1);
    for (const RedisVerb verb : {RedisVerb::hello, RedisVerb::time, RedisVerb::acquire,
                                 RedisVerb::renew, RedisVerb::release, RedisVerb::index})
      for (const FaultCase& c : cases_of(verb))
        if (c.name() == name) return c;
    std::abort();
  }
  void start_some() {
    for (; !waiting_.empty() && running_.size() < kAtOnce; waiting_.pop_front())
      running_.push_back(std::make_unique<FaultTrial>(*redis_, waiting_.front(), ++started_, tls_,
                                                      certificates_.ca()));
  }

  std::unique_ptr<RedisServer> redis_ = RedisServer::start();
  Certificates certificates_;
  std::shared_ptr<SSL_CTX> tls_ = tls_server_context(certificates_.good());
  std::deque<FaultCase> waiting_;
  std::deque<std::unique_ptr<FaultTrial>> running_;
  int started_ = 0;
};

class StoreFaults : public ::testing::TestWithParam<FaultCase> {
 protected:
  static void SetUpTestSuite() {
    trials =
        std::make_unique<SideBySide>(*::testing::UnitTest::GetInstance()->current_test_suite());
  }
  static void TearDownTestSuite() { trials.reset(); }
  static std::unique_ptr<SideBySide> trials;
};
std::unique_ptr<SideBySide> StoreFaults::trials;

TEST_P(StoreFaults, LeaveExitCodeOutcomeAndStatisticsTrue) { trials->judge_next(); }

std::string name_of_case(const ::testing::TestParamInfo<FaultCase>& test) {
  return test.param.name();
}
INSTANTIATE_TEST_SUITE_P(Hello, StoreFaults, ::testing::ValuesIn(cases_of(RedisVerb::hello)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Time, StoreFaults, ::testing::ValuesIn(cases_of(RedisVerb::time)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Acquire, StoreFaults, ::testing::ValuesIn(cases_of(RedisVerb::acquire)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Renew, StoreFaults, ::testing::ValuesIn(cases_of(RedisVerb::renew)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Release, StoreFaults, ::testing::ValuesIn(cases_of(RedisVerb::release)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Index, StoreFaults, ::testing::ValuesIn(cases_of(RedisVerb::index)),
                         name_of_case);

}  // namespace
}  // namespace cronlatch::testing
