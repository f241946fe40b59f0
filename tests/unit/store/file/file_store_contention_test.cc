// SPDX-License-Identifier: Apache-2.0
// Twenty processes on one lock.
#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

// While it holds the lock, each process creates a file that must not exist: so two holders are
// detected without the store. Runs until `end`, and then until two grants.
int contend(FileWorld& world, int number, TimePoint end) {
  const TimePoint hangs = end + kPatience;
  Caller one(world, "a/b", "owner-" + std::to_string(number));
  const std::string marker = world.dir / "inside";
  int grants = 0;
  for (; boot_now() < end || (grants < 2 && boot_now() < hangs); ++one.claim().attempt) {
    Acquire request = one.acquire();
    request.if_busy = number % 2 == 0 ? IfBusy::wait : IfBusy::skip;
    const std::optional<Reply> reply = one(request);
    if (!reply) return 101;
    if (std::holds_alternative<Busy>(*reply)) continue;
    const auto* got = std::get_if<Granted>(&*reply);
    if (got == nullptr) return 102;
    const int fd = open(marker.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return 103;  // two holders
    close(fd);
    unlink(marker.c_str());
    if (!std::holds_alternative<Released>(one(one.release(got->fence)).value())) return 104;
    ++grants;
  }
  return grants > 0 ? 0 : 1;
}

TEST_F(FileStore, GrantsToOneOfTwentyAtATime) {
  const TimePoint end = boot_now() + Millis(1'000);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 20; ++i)
    children.push_back(std::make_unique<Child>([&, i] { return contend(world_, i, end); }));
  int granted = 0;
  for (auto& child : children) {
    const int code = child->join();
    EXPECT_LT(code, 100);
    granted += code == 0;
  }
  EXPECT_GE(granted, 2) << "less than two processes were granted the lock";

  // Then the counters contain every grant
  Caller one = program("x");
  EXPECT_EQ(breach_of_law(one.show(), false), "");
  EXPECT_GT(one.count("acquired"), 20);
  EXPECT_EQ(one.count("stolen"), 0);
  RecordProperty("grants", static_cast<int>(one.count("acquired")));
  RecordProperty("skips", static_cast<int>(one.count("skipped_held")));
}

}  // namespace
}  // namespace cronlatch::testing
