// SPDX-License-Identifier: Apache-2.0
// Background processes of a command whose wrapper is the first process of a PID namespace, as in a
// container: dead before the lock is released, and not only when the namespace ends.
#include <cstring>
#include <filesystem>

#include "gated.h"
#include "support/fault_proxy.h"
#include "support/redis_verbs.h"

namespace cronlatch::testing {
namespace {

const Words kWithItsProc = {"/usr/bin/unshare", "-p", "-f", "--mount-proc"};
const Words kWithAnotherProc = {"/usr/bin/unshare", "-p", "-f"};

class FirstProcessLeftovers : public GatedByRedis {
 protected:
  // Without the file a chain that has survived ends by itself.
  ~FirstProcessLeftovers() override { std::filesystem::remove(chain()); }

  std::string chain() const { return dir.path("chain"); }
  // Both ignore TERM, and write the time until they are killed.
  Words daemon() const { return {"to", file(), "daemon", "[", "ignore", "15", "beat", "]"}; }
  Words fork_and_exit() const { return {"ignore", "15", "chain", chain()}; }
  // The last time that either of them wrote; 0 before the first.
  std::int64_t last_sign() const {
    const std::string beats = read_file(file()), link = read_file(chain());
    std::int64_t us = 0;
    if (link.size() == sizeof us) std::memcpy(&us, link.data(), sizeof us);
    const std::size_t at = beats.rfind("beat ");
    return at == std::string::npos ? us : std::atoll(beats.c_str() + at + 5);
  }
  // The kernel kills what is left in a PID namespace when its first process ends. So the reply to
  // the release is delayed: what is alive in this time was not killed by cronlatch.
  void are_dead_at_the_release(const Words& context, Words command) {
    Words trial_words = context;
    trial_words.push_back("/bin/true");
    Program trial({.argv = trial_words});
    if (trial.exit_code() != 0)
      GTEST_SKIP() << "NOT TESTED: a PID namespace is not permitted here: " << trial.err();
    // Given
    FaultProxy proxy(redis->port(),
                     {.kind = FaultKind::reply_late,
                      .concerns = [](const auto& r) { return verb_of(r) == RedisVerb::release; },
                      .delay = 500ms});
    store = proxy.url();
    command.insert(command.end(), {"await", go(), "exit", "6"});
    ProgramSpec spec = run({"--kill-after", "200ms"}, command);
    spec.argv.insert(spec.argv.begin(), context.begin(), context.end());
    Program program(spec);
    ASSERT_TRUE(eventually([&] { return last_sign() > 0; })) << program.err();
    // When
    touch(go());
    ASSERT_TRUE(eventually([&] { return proxy.struck() == 1; }));
    const std::int64_t released = boottime_us();
    // Then
    EXPECT_EQ(program.exit_code(), 6) << program.err();
    EXPECT_LE(last_sign(), released);
    EXPECT_GE(boottime_us(), released + 400'000) << "the reply was not delayed";
  }
};

TEST_F(FirstProcessLeftovers, S5_AreDeadWhenTheFirstProcessOfAContainerReleasesTheLock) {
  are_dead_at_the_release(kWithItsProc, daemon());
}
TEST_F(FirstProcessLeftovers, S5_AreDeadWhenTheFirstProcessOfAContainerWithoutProcReleasesTheLock) {
  are_dead_at_the_release(kWithAnotherProc, daemon());
}
TEST_F(FirstProcessLeftovers, S5_ThatForkAndExitAreDeadWhenTheFirstProcessReleasesTheLock) {
  are_dead_at_the_release(kWithItsProc, fork_and_exit());
}
TEST_F(FirstProcessLeftovers,
       S5_ThatForkAndExitAreDeadWhenTheFirstProcessWithoutProcReleasesTheLock) {
  are_dead_at_the_release(kWithAnotherProc, fork_and_exit());
}

}  // namespace
}  // namespace cronlatch::testing
