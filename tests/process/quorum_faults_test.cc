// SPDX-License-Identifier: Apache-2.0
// Runs on a quorum of three servers, one of which is behind a proxy that spoils one request or
// reply of a verb, or each of them. The other two are a majority: every run succeeds.
#include <map>
#include <memory>

#include "fault_events.h"
#include "gated.h"
#include "support/fault_proxy.h"
#include "support/quorum_group.h"
#include "support/redis_verbs.h"
#include "support/trials.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kOwnCode = 7;
constexpr int kMaxTtl = 5;  // seconds

struct QuorumFault {
  RedisVerb verb;
  FaultKind kind;
  int number;  // of the request that is struck; 0: each
  std::string name() const {
    return std::string(name_of(verb)) + "_" + testing::name_of(kind) + "_" +
           (number == 0 ? "each" : std::to_string(number));
  }
};

std::vector<QuorumFault> all_faults() {
  std::vector<QuorumFault> faults;
  for (const RedisVerb verb : {RedisVerb::hello, RedisVerb::time, RedisVerb::acquire,
                               RedisVerb::renew, RedisVerb::release})
    for (const FaultKind kind : kFaultKinds)
      for (const int number : {0, 1, 2})
        // The second renewal is the first one after the confirmation of the grant.
        if (number < 2 || verb == RedisVerb::renew) faults.push_back({verb, kind, number});
  return faults;
}

class QuorumTrial {
 public:
  QuorumTrial(QuorumGroup& group, const QuorumFault& fault)
      : group_(group), fault_(fault), proxy_(group[0].port(), proxy_fault(fault)) {
    run_ = start(
        QuorumGroup::url_of({proxy_.port(), group[1].port(), group[2].port()}), "outcome",
        {"say", "start", "sleep", "1000", "await", dir_.path("go"), "say", "end", "exit", "7"});
  }
  void judge() {
    SCOPED_TRACE(fault_.name());
    EXPECT_TRUE(eventually([&] { return !told().empty(); })) << run_->err();
    // when: another run while the command runs
    const auto other = start(group_.url(), "other-outcome", {"say", "overlap"});
    EXPECT_EQ(other->exit_code(), 75) << other->err();
    touch(dir_.path("go"));
    EXPECT_EQ(run_->exit_code(), kOwnCode) << run_->err();
    if (fault_.number > 0) {
      EXPECT_EQ(proxy_.struck(), 1) << "of " << proxy_.seen();
    }
    // A late request is executed before the next run.
    EXPECT_TRUE(eventually([&] { return proxy_.connections() == 0; }));
    const auto next = start(group_.url(), "next-outcome", {"say", "next"});
    EXPECT_EQ(next->exit_code(), 0) << next->err();
    // then
    EXPECT_EQ(told(), "start\nend\nnext\n");
    EXPECT_THAT(read_file(dir_.path("outcome")), HasSubstr(R"("outcome":"ran","reason":"")"));
    EXPECT_LT(fence("outcome"), fence("next-outcome"));
    for (const std::size_t server : {1u, 2u}) judge_stats(server);
    expect_events(
        dir_.path("outcome"), kOwnCode,
        {{"Normal", "Acquired",
          "held lock job for .*fence " + std::to_string(fence("outcome")) + ".; exit code 7"}},
        "");
    expect_events(dir_.path("other-outcome"), 75,
                  {{"Warning", "Busy", "not started because lock job is held by .*"}}, "");
  }

 private:
  static Fault proxy_fault(const QuorumFault& fault) {
    Fault made{
        .kind = fault.kind,
        .concerns = [verb = fault.verb](const Fault::Request& r) { return verb_of(r) == verb; },
        .delay = std::chrono::milliseconds(600)};
    if (fault.number > 0) made.numbers = {fault.number};
    if (fault.number == 0)
      for (int i = 1; i <= 100; ++i) made.numbers.insert(i);
    return made;
  }
  std::string prefix() const { return fault_.name() + ":"; }
  std::string told() const { return read_file(dir_.path("told")); }
  std::unique_ptr<Program> start(const std::string& store, const std::string& outcome,
                                 const Words& words) const {
    Words argv = {binary(), "run", "--lock", "job", "--store", store, "--key-prefix", prefix()};
    for (const Words& part : {Words{"--ttl", "5s", "--renew-every", "300ms", "--max-ttl", "5s"},
                              Words{"--op-timeout", "400ms", "--kill-after", "200ms"},
                              Words{"--on-busy", "fail", "--outcome-file", dir_.path(outcome)},
                              Words{"--", talking_child(), "to", dir_.path("told")}, words})
      argv.insert(argv.end(), part.begin(), part.end());
    return std::make_unique<Program>(ProgramSpec{.argv = argv});
  }
  std::int64_t fence(const std::string& outcome) const {
    const std::string text = read_file(dir_.path(outcome)), key = "\"fence\":\"";
    const std::size_t at = text.find(key);
    return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + key.size());
  }
  // One grant of one run is counted once by each server of the majority.
  void judge_stats(std::size_t server) const {
    std::map<std::string, long> sum;
    const RedisAnswer all =
        redis_command(group_[server].port(), {"HGETALL", prefix() + "{job}:stats"});
    for (std::size_t i = 0; i + 1 < all.elements.size(); i += 2) {
      const std::string& field = all.elements[i].text;
      sum[field.substr(0, field.find('|'))] += std::atol(all.elements[i + 1].text.c_str());
    }
    SCOPED_TRACE("server " + std::to_string(server));
    EXPECT_EQ(sum["acquired"], 2);
    EXPECT_EQ(sum["released"], 2);
    EXPECT_EQ(sum["runs_failed"], 1);
    EXPECT_EQ(sum["runs_succeeded"], 1);
    EXPECT_EQ(sum["runs_busy"], 1);
    for (const char* loss : kCountersOfLosses) EXPECT_EQ(sum[loss], 0) << loss;
  }

  QuorumGroup& group_;
  QuorumFault fault_;
  ScratchDir dir_;
  FaultProxy proxy_;
  std::unique_ptr<Program> run_;
};

TEST(QuorumRunFaults, OfOneServerLeaveExitCodeOutcomeAndStatisticsTrue) {
  QuorumGroup& group = QuorumGroup::shared();
  ASSERT_TRUE(group.run_for(kMaxTtl));
  Trials<QuorumTrial> trials(30);
  for (const QuorumFault& fault : all_faults()) trials.start(group, fault);
  trials.judge_rest();
}

}  // namespace
}  // namespace cronlatch::testing
