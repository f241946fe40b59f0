// SPDX-License-Identifier: Apache-2.0
// Runs a program and reads its output within limits; /bin/sh replaces kubectl.
#include "plugin/kubectl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/kernel_clock.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

class RunKubectl : public ::testing::Test {
 protected:
  KubectlCall shell(const std::string& script, std::string input = {}) const {
    return {{"-c", script}, KubectlCall::ErrorOutput::captured, std::move(input)};
  }
  KernelClock clock;
  KubectlSpec spec{.program = "/bin/sh", .flags = {}};
};

TEST_F(RunKubectl, ReturnsOutputErrorOutputAndExitCodeAndWritesTheInput) {
  const auto answers =
      RealKubectl(spec, clock)
          .run({shell("cat; echo complaint >&2; exit 3", "input"), shell("echo second")});

  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ((*answers)[0].out, "input");
  EXPECT_EQ((*answers)[0].error_output, "complaint\n");
  EXPECT_EQ((*answers)[0].exit_code, 3);
  EXPECT_EQ((*answers)[1].out, "second\n");
}

TEST_F(RunKubectl, RunsTheCallsOfOneBatchAtTheSameTime) {
  // Each waits until the other has started: in sequence, the first would never end.
  const std::string dir = ::testing::TempDir() + "/cronlatch-batch-" + std::to_string(getpid());
  const auto meet = [&](const std::string& own, const std::string& other) {
    return "mkdir -p " + dir + "; touch " + dir + "/" + own + "; while [ ! -e " + dir + "/" +
           other + " ]; do sleep 0.01; done; echo met";
  };
  const auto answers = RealKubectl(spec, clock).run({shell(meet("a", "b")), shell(meet("b", "a"))});

  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ((*answers)[0].out + (*answers)[1].out, "met\nmet\n");
}

TEST_F(RunKubectl, LimitsTheOutput) {
  spec.max_output = 1U << 20;
  const auto answers = RealKubectl(spec, clock).run({shell("while :; do echo flood; done")});
  ASSERT_FALSE(answers);
  EXPECT_THAT(answers.error().message, HasSubstr("more than 1 MiB"));
}

TEST_F(RunKubectl, DropsErrorOutputBeyondItsLimit) {
  const auto answers = RealKubectl(spec, clock)
                           .run({shell("i=0; while [ $i -lt 20000 ]; do echo complaint $i >&2; "
                                       "i=$((i+1)); done; echo done")});
  ASSERT_TRUE(answers);
  EXPECT_EQ((*answers)[0].out, "done\n");
  EXPECT_LE((*answers)[0].error_output.size(), 65'536u);
}

TEST_F(RunKubectl, KillsACallAtTheDeadline) {
  spec.deadline = Millis(200);
  const auto answers = RealKubectl(spec, clock).run({shell("exec sleep 600")});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, Code::unreachable);
}

TEST_F(RunKubectl, ReportsTheNameOfAMissingProgram) {
  spec.program = "no-such-kubectl";
  const auto answers = RealKubectl(spec, clock).run({shell("")});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, Code::exec_missing);
  EXPECT_THAT(answers.error().message, HasSubstr("no-such-kubectl"));
}

}  // namespace
}  // namespace cronlatch::plugin
