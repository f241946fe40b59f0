// SPDX-License-Identifier: Apache-2.0
// The error matrix of the file store, for every verb.
#include <gmock/gmock.h>

#include <memory>

#include "base/fd.h"
#include "unit/store/file/file_error_cases.h"
#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class FileErrorMatrix : public ::testing::TestWithParam<FileCase> {};

TEST_P(FileErrorMatrix, HasTheListedOutcome) {
  const FileCase& expected = GetParam();
  if (expected.needs_root && geteuid() != 0) GTEST_SKIP() << "NOT TESTED: needs root";
  FileWorld world;
  Caller one(world, "a/b", "1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  ++one.claim().attempt;
  // when
  Scene scene(world.path());
  if (expected.change) expected.change(scene);
  // then
  const bool is_final = expected.code == Code::config;
  for (Request request : {Request(one.acquire()), Request(one.renew(1)), Request(one.release(1))}) {
    SCOPED_TRACE(request.index());
    if (expected.verbs == Verbs::acquire && request.index() != 0) break;
    std::visit(
        [&](auto& verb) { verb.give_up = boot_now() + (is_final ? kPatience : Millis(500)); },
        request);
    const Unavailable error = expect_unavailable(one(request));
    EXPECT_EQ(error.error.code, expected.code) << error.error.message;
    EXPECT_EQ(error.transient, !is_final) << error.error.message;
    EXPECT_TRUE(error.unsent) << error.error.message;
    EXPECT_THAT(error.error.message, HasSubstr(expected.text));
    EXPECT_NE(error.error.hint, "");
  }
  EXPECT_EQ(one.backend().inherited_fd(), -1) << "nothing is granted";
}

INSTANTIATE_TEST_SUITE_P(Cases, FileErrorMatrix, ::testing::ValuesIn(file_cases()),
                         [](const auto& file_case) { return std::string(file_case.param.name); });

// A failed release is repeated, and no other run may be granted the lock before. When the run has
// ended, the processes that it left must not keep the lock.
TEST_P(FileErrorMatrix, KeepsTheLockUntilTheRunHasEnded) {
  const FileCase& each = GetParam();
  if (each.needs_root && geteuid() != 0) GTEST_SKIP() << "NOT TESTED: needs root";
  FileWorld world;
  auto one = std::make_unique<Caller>(world, "a/b", "1");
  Release release = one->release(expect<Granted>((*one)(one->acquire())).fence);
  const Fd lock(open((world.path() + kLock).c_str(), O_RDONLY | O_CLOEXEC));
  const Fd inherited(dup(one->backend().inherited_fd()));
  Scene scene(world.path());
  each.change(scene);
  release.give_up = boot_now() + Millis(200);
  const auto reply = (*one)(release);
  ASSERT_TRUE(reply);
  const bool has_failed = std::holds_alternative<Unavailable>(*reply);
  EXPECT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB) != 0, has_failed);
  one.reset();
  EXPECT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
}

}  // namespace
}  // namespace cronlatch::testing
