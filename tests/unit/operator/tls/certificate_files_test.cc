// SPDX-License-Identifier: Apache-2.0
#include "operator/tls/certificate_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/hand_clock.h"
#include "support/program.h"

namespace cronlatch::op {
namespace {

TEST(CertificateFiles, LogAnErrorOnceUntilItChanges) {
  const cronlatch::testing::ScratchDir dir;
  const cronlatch::testing::HandClock clock;
  int lines = 0;
  const Log log(LogFormat::text, Level::info, clock, [&](std::string_view) { ++lines; });
  CertificateFiles files(
      dir.path(), [](const Certificate&) { return Status(Done{}); }, log);

  for (int i = 0; i < 3; ++i) files.poll();
  EXPECT_EQ(lines, 1);  // there is no tls.crt

  std::ofstream(dir.path("tls.crt")) << "no certificate";
  for (int i = 0; i < 3; ++i) files.poll();
  EXPECT_EQ(lines, 2);  // there is no tls.key
}

}  // namespace
}  // namespace cronlatch::op
