// SPDX-License-Identifier: Apache-2.0
#include "kube/token.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/program.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::ScratchDir;
using namespace std::chrono_literals;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(TokenSource, ReadsTheFileAgainAfterAMinute) {
  const ScratchDir dir;
  TokenSource::Time now{};
  now += 1h;
  const std::string file = dir.path("token");
  write(file, "one\n");
  TokenSource source(file, {});
  EXPECT_EQ(source.current(now).reveal(), "one");
  write(file, "two\n");

  EXPECT_EQ(source.current(now + 59s).reveal(), "one");
  EXPECT_EQ(source.current(now + 61s).reveal(), "two");
}

TEST(TokenSource, KeepsTheTokenWhileTheFileIsMissing) {
  const ScratchDir dir;
  const std::string file = dir.path("token");
  write(file, "one");
  TokenSource source(file, {});
  source.current({});
  std::filesystem::remove(file);

  EXPECT_EQ(source.current(TokenSource::Time{} + 5min).reveal(), "one");
}

}  // namespace
}  // namespace cronlatch::kube
