// SPDX-License-Identifier: Apache-2.0
#include "operator/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::HandClock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Scene {
  HandClock clock;
  std::vector<std::string> logged;
  Log log{LogFormat::logfmt, Level::info, clock,
          [this](std::string_view line) { logged.emplace_back(line); }};
  Liveness liveness{clock, log, Seconds(120)};
};

TEST(Liveness, IsNotStuckBeforeTheFirstReport) {
  Scene scene;
  scene.clock.pass(std::chrono::hours(1));
  EXPECT_EQ(scene.liveness.stuck(), "");
  EXPECT_THAT(scene.logged, ElementsAre());
}

TEST(Liveness, NamesTheLoopThatReportsNoProgressForTheLimit) {
  Scene scene;
  scene.liveness.progress("election");
  scene.liveness.progress("reconcile");
  scene.clock.pass(Seconds(120));
  EXPECT_EQ(scene.liveness.stuck(), "");

  scene.liveness.progress("election");
  scene.clock.pass(Seconds(3));

  EXPECT_EQ(scene.liveness.stuck(), "reconcile made no progress for 123s");
}

TEST(Liveness, LogsWhenALoopGetsStuckAndWhenItContinues) {
  Scene scene;
  scene.liveness.progress("reconcile");
  scene.clock.pass(Seconds(121));
  for (int probe = 0; probe < 3; ++probe) {
    EXPECT_NE(scene.liveness.stuck(), "");
    scene.clock.pass(Seconds(10));
  }
  scene.liveness.progress("reconcile");
  EXPECT_EQ(scene.liveness.stuck(), "");
  EXPECT_EQ(scene.liveness.stuck(), "");

  EXPECT_THAT(scene.logged, ElementsAre(HasSubstr("loop_stuck"), HasSubstr("loop_continues")));
}

TEST(Liveness, AllowsWorkItsOwnTimeInAdditionToTheLimit) {
  Scene scene;
  scene.liveness.begin("lookup", Seconds(300));
  scene.clock.pass(Seconds(420));
  EXPECT_EQ(scene.liveness.stuck(), "");
  scene.clock.pass(Seconds(1));
  EXPECT_EQ(scene.liveness.stuck(), "lookup made no progress for 421s");
  scene.liveness.end();
  EXPECT_EQ(scene.liveness.stuck(), "");
}

// One of several threads is stuck, and the others continue.
TEST(Liveness, JudgesTheWorkOfEachThread) {
  Scene scene;
  std::thread([&] { scene.liveness.begin("lookup", Seconds(15)); }).join();
  scene.liveness.begin("lookup", Seconds(15));
  scene.clock.pass(Seconds(136));
  scene.liveness.end();

  EXPECT_EQ(scene.liveness.stuck(), "lookup made no progress for 136s");
}

}  // namespace
}  // namespace cronlatch::op
