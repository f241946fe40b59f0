// SPDX-License-Identifier: Apache-2.0
// Running a program and reading it within limits; /bin/sh stands for kubectl.
#include "plugin/kubectl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/kernel_clock.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

class RunsAProgram : public ::testing::Test {
 protected:
  KubectlCall shell(const std::string& script, std::string input = {}) const {
    return {{"-c", script}, KubectlCall::Complaints::kept, std::move(input)};
  }
  KernelClock clock;
  KubectlSpec spec{.program = "/bin/sh", .flags = {}};
};

TEST_F(RunsAProgram, OutputComplaintsExitCodeAndInputArePassed) {
  const auto answers =
      RealKubectl(spec, clock)
          .ask({shell("cat; echo complaint >&2; exit 3", "input"), shell("echo second")});

  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ((*answers)[0].out, "input");
  EXPECT_EQ((*answers)[0].complaints, "complaint\n");
  EXPECT_EQ((*answers)[0].exit_code, 3);
  EXPECT_EQ((*answers)[1].out, "second\n");
}

TEST_F(RunsAProgram, CallsOfOneBatchRunAtTheSameTime) {
  // Each waits until the other has begun: one after the other would never end.
  const std::string dir = ::testing::TempDir() + "/cronlatch-batch-" + std::to_string(getpid());
  const auto meet = [&](const std::string& own, const std::string& other) {
    return "mkdir -p " + dir + "; touch " + dir + "/" + own + "; while [ ! -e " + dir + "/" +
           other + " ]; do sleep 0.01; done; echo met";
  };
  const auto answers = RealKubectl(spec, clock).ask({shell(meet("a", "b")), shell(meet("b", "a"))});

  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ((*answers)[0].out + (*answers)[1].out, "met\nmet\n");
}

TEST_F(RunsAProgram, AFloodIsCutOff) {
  spec.most = 1U << 20;
  const auto answers = RealKubectl(spec, clock).ask({shell("while :; do echo flood; done")});
  ASSERT_FALSE(answers);
  EXPECT_THAT(answers.error().message, HasSubstr("more than 1 MiB"));
}

TEST_F(RunsAProgram, AFloodOfComplaintsIsDropped) {
  const auto answers = RealKubectl(spec, clock)
                           .ask({shell("i=0; while [ $i -lt 20000 ]; do echo complaint $i >&2; "
                                       "i=$((i+1)); done; echo done")});
  ASSERT_TRUE(answers);
  EXPECT_EQ((*answers)[0].out, "done\n");
  EXPECT_LE((*answers)[0].complaints.size(), 65'536u);
}

TEST_F(RunsAProgram, OneThatHangsIsKilledAtTheDeadline) {
  spec.deadline = Millis(200);
  const auto answers = RealKubectl(spec, clock).ask({shell("exec sleep 600")});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, Code::unreachable);
}

TEST_F(RunsAProgram, AMissingProgramIsNamed) {
  spec.program = "no-such-kubectl";
  const auto answers = RealKubectl(spec, clock).ask({shell("")});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, Code::exec_missing);
  EXPECT_THAT(answers.error().message, HasSubstr("no-such-kubectl"));
}

}  // namespace
}  // namespace cronlatch::plugin
