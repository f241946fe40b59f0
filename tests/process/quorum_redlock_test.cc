// SPDX-License-Identifier: Apache-2.0
// Runs on a quorum of three servers share a key with a double of the redlock libraries, which lock
// on a majority of the same servers. Every command holds a lock of the kernel, so that an overlap
// is found with certainty.
#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "base/fd.h"
#include "gated.h"
#include "support/quorum_group.h"

namespace cronlatch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// SET NX PX with a random value on every server; without a majority, the keys are deleted again.
class Redlock {
 public:
  Redlock(QuorumGroup& servers, std::string key) : servers_(servers), key_(std::move(key)) {}

  bool acquire() {
    token_ = std::to_string(random_());
    std::size_t granted = 0;
    for (std::size_t i = 0; i < servers_.size(); ++i)
      if (redis_command(servers_[i].port(), {"SET", key_, token_, "NX", "PX", "20000"}).text ==
          "OK")
        ++granted;
    if (granted > servers_.size() / 2) return true;
    release();
    return false;
  }
  void release() {
    for (std::size_t i = 0; i < servers_.size(); ++i)
      redis_command(
          servers_[i].port(),
          {"EVAL", "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
           "1", key_, token_});
  }

 private:
  QuorumGroup& servers_;
  std::string key_, token_;
  std::random_device random_;
};

class QuorumRedlock : public Gated {
 protected:
  void SetUp() override {
    store = group.url();
    ASSERT_TRUE(group.run_for(5));
  }
  ProgramSpec run(const Words& options, const Words& command) const {
    Words argv = {binary(), "run", "--store", store, "--key-format", "redlock", "--foreign-key"};
    for (const Words& part :
         {Words{key(), "--ttl", "5s", "--renew-every", "300ms"},
          Words{"--max-ttl", "5s", "--kill-after", "200ms"}, options, Words{"--"}, command})
      argv.insert(argv.end(), part.begin(), part.end());
    return {.argv = argv};
  }
  static std::string key() {
    return std::string("locks:") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  QuorumGroup& group = QuorumGroup::shared();
};

TEST_F(QuorumRedlock, ExcludesALibraryAndIsExcludedByIt) {
  Redlock library(group, key());
  ASSERT_TRUE(library.acquire());
  Program refused(run({"--on-busy", "fail"}, {"touch", file()}));
  EXPECT_EQ(refused.exit_code(), 75);
  EXPECT_THAT(refused.err(), HasSubstr("another program (redlock key)"));
  EXPECT_FALSE(exists(file()));
  library.release();
  // when
  Program holder(run({}, {talking_child(), "touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  // then
  EXPECT_FALSE(library.acquire());
  touch(go());
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  EXPECT_TRUE(library.acquire());
}

TEST_F(QuorumRedlock, WithAKeyOfTheLibraryOnAMinorityIsGrantedAndLeavesThatKey) {
  redis_command(group[1].port(), {"SET", key(), "left by a library"});
  Program holder(run({"--on-busy", "fail"}, {"true"}));
  EXPECT_EQ(holder.exit_code(), 0) << holder.err();
  EXPECT_EQ(redis_command(group[1].port(), {"GET", key()}).text, "left by a library");
}

TEST_F(QuorumRedlock, LosesItsLeaseWhenALibraryHasAMajority) {
  Program holder(run({}, {talking_child(), "touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  // when
  for (std::size_t i = 0; i < 2; ++i)
    redis_command(group[i].port(), {"SET", key(), "of a library"});
  // then
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
  EXPECT_EQ(redis_command(group[0].port(), {"GET", key()}).text, "of a library");
}

TEST_F(QuorumRedlock, NeverOverlapsALibraryThatContendsForTheKey) {
  constexpr int kEach = 8;
  const std::string kernel = dir.path("kernel");
  std::atomic<int> runs = 0, library_runs = 0, overlaps = 0;
  const auto is_over = [&] { return (runs >= kEach && library_runs >= kEach) || overlaps > 0; };
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto contend = [&](const std::function<void()>& once) {
    while (!is_over() && std::chrono::steady_clock::now() < give_up) once();
  };
  const auto gated = [&] {
    Program program(run({"--on-busy", "fail"},
                        {"sh", "-c", "exec 9>" + kernel + "; flock -n 9 || exit 3; sleep 0.1"}));
    const std::optional<int> code = program.exit_code();
    if (code == 0) ++runs;
    if (code == 3) ++overlaps;
  };
  Redlock library(group, key());
  const auto by_library = [&] {
    if (!library.acquire()) return std::this_thread::sleep_for(milliseconds(50));
    const Fd file(::open(kernel.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) ++overlaps;
    std::this_thread::sleep_for(milliseconds(100));
    ++library_runs;
    // Explicitly: another thread may be starting a process, which has a copy of this descriptor.
    ::flock(file.get(), LOCK_UN);
    library.release();
  };
  // when
  std::vector<std::thread> contenders;
  contenders.emplace_back([&] { contend(gated); });
  contenders.emplace_back([&] { contend(gated); });
  contend(by_library);
  for (std::thread& contender : contenders) contender.join();
  // then
  EXPECT_EQ(overlaps, 0);
  EXPECT_GE(runs, kEach);
  EXPECT_GE(library_runs, kEach);
}

TEST_F(QuorumRedlock, IsTheOnlyFormatOfAQuorum) {
  Program program({.argv = {binary(), "run", "--store", store, "--key-format", "cronlock",
                            "--foreign-key", key(), "--", "touch", file()}});
  EXPECT_EQ(program.exit_code(), 78);
  EXPECT_THAT(program.err(), HasSubstr("only redlock libraries lock on a quorum"));
  EXPECT_FALSE(exists(file()));
}

}  // namespace
}  // namespace cronlatch::testing
