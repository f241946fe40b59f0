// SPDX-License-Identifier: Apache-2.0
// Background processes of a command whose wrapper is the first process of a PID namespace, as in a
// container: dead before the lock is released, and not only when the namespace ends.
#include "gated.h"
#include "support/fault_proxy.h"
#include "support/redis_verbs.h"

namespace cronlatch::testing {
namespace {

class FirstProcessLeftovers : public GatedByRedis {
 protected:
  // The kernel kills what is left in a PID namespace when its first process ends. So the reply to
  // the release is delayed: what is alive in this time was not killed by cronlatch.
  void are_dead_at_the_release(const Words& context) {
    Words trial_words = context;
    trial_words.push_back("/bin/true");
    Program trial({.argv = trial_words});
    if (trial.exit_code() != 0)
      GTEST_SKIP() << "NOT TESTED: a PID namespace is not permitted here: " << trial.err();
    // Given a daemon that ignores TERM and writes the time
    FaultProxy proxy(redis->port(),
                     {.kind = FaultKind::reply_late,
                      .concerns = [](const auto& r) { return verb_of(r) == RedisVerb::release; },
                      .delay = 500ms});
    store = proxy.url();
    ProgramSpec spec = run({"--kill-after", "200ms"}, {"to", file(), "daemon", "[", "ignore", "15",
                                                       "beat", "]", "await", go(), "exit", "6"});
    spec.argv.insert(spec.argv.begin(), context.begin(), context.end());
    Program program(spec);
    ASSERT_TRUE(told("beat ")) << program.err();
    // When
    touch(go());
    ASSERT_TRUE(eventually([&] { return proxy.struck() == 1; }));
    const std::int64_t released = boottime_us();
    // Then
    EXPECT_EQ(program.exit_code(), 6) << program.err();
    const std::string beats = read_file(file());
    EXPECT_LE(std::atoll(beats.c_str() + beats.rfind("beat ") + 5), released);
    EXPECT_GE(boottime_us(), released + 400'000) << "the reply was not delayed";
  }
};

TEST_F(FirstProcessLeftovers, S5_AreDeadWhenTheFirstProcessOfAContainerReleasesTheLock) {
  are_dead_at_the_release({"/usr/bin/unshare", "-p", "-f", "--mount-proc"});
}
TEST_F(FirstProcessLeftovers, S5_AreDeadWhenTheFirstProcessOfAContainerWithoutProcReleasesTheLock) {
  are_dead_at_the_release({"/usr/bin/unshare", "-p", "-f"});
}

}  // namespace
}  // namespace cronlatch::testing
