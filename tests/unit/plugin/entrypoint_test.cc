// SPDX-License-Identifier: Apache-2.0
// tests/registry reads from a real registry; here are the programs that are missing or differ.
#include "plugin/entrypoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "no_cluster.h"
#include "plugin/render.h"

namespace cronlatch::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class EntrypointVerb : public ::testing::Test {
 protected:
  Result<Output> run(const std::string& image) {
    NoKubectl kubectl;
    NoClock clock;
    Context context{kubectl, clock, {}, {}, {}};
    context.run_program = [this](const std::string& program,
                                 const std::vector<std::string>& args) -> Result<KubectlResult> {
      const auto installed = programs.find(program);
      if (installed == programs.end()) return Error{Code::exec_missing, "no " + program};
      ran.push_back(program);
      last_args = args;
      if (!only_for.empty() && args.at(3) != only_for)
        return KubectlResult{1, "", "no image for architecture " + args.at(3) + "\n"};
      return installed->second;
    };
    Arguments arguments;
    arguments.name = image;
    return entrypoint(arguments, context);
  }
  std::map<std::string, KubectlResult> programs;
  std::vector<std::string> ran, last_args;
  std::string only_for;  // the only architecture of the image, for skopeo
};

constexpr char kConfig[] = R"({"os":"linux","config":{"Entrypoint":["/it's"],"Cmd":["a b"]}})";

TEST_F(EntrypointVerb, PrintsTheAnnotationForAContainerWithAndWithoutArgs) {
  programs["skopeo"] = {0, kConfig, ""};

  const auto output = run("pg");

  ASSERT_TRUE(output) << output.error().message;
  const std::string text = render(*output, OutputFormat::table);
  EXPECT_THAT(text, HasSubstr("docker.io/library/pg:latest"));
  EXPECT_THAT(text, HasSubstr(R"(without args: cronlatch.dev/command: '["/it''s","a b"]')"));
  EXPECT_THAT(text, HasSubstr(R"(with args:    cronlatch.dev/command: '["/it''s"]')"));
  EXPECT_EQ(output->json["cmd"], kube::Json({"a b"}));
  EXPECT_EQ(last_args.back(), "docker://docker.io/library/pg:latest");
}

// The kubelet would replace $(pidof) and $$ in the container's command.
TEST_F(EntrypointVerb, EscapesTheAnnotationForTheKubelet) {
  programs["skopeo"] = {
      0, R"({"os":"linux","config":{"Entrypoint":["sh","-c","echo $$ $(pidof x) $HOME"]}})", ""};

  const auto output = run("pg");

  ASSERT_TRUE(output) << output.error().message;
  EXPECT_THAT(render(*output, OutputFormat::table),
              HasSubstr(R"(cronlatch.dev/command: '["sh","-c","echo $$$$ $$(pidof x) $$HOME"]')"));
  EXPECT_EQ(output->json["entrypoint"], kube::Json({"sh", "-c", "echo $$ $(pidof x) $HOME"}));
}

TEST_F(EntrypointVerb, UsesTheFirstProgramThatIsInstalledAndWorks) {
  programs["crane"] = {1, "", "UNAUTHORIZED\n"};
  programs["docker"] = {
      0, R"({"linux/arm64":{"config":{}},"linux/amd64":)" + std::string(kConfig) + "}", ""};

  const auto output = run("registry.example/a:1");

  ASSERT_TRUE(output) << output.error().message;
  EXPECT_THAT(ran, ElementsAre("crane", "crane", "docker"));
  EXPECT_EQ(output->json["cmd"], kube::Json({"a b"}));
}

TEST_F(EntrypointVerb, ReadsAnImageForArm64Alone) {
  programs["skopeo"] = {0, kConfig, ""};
  only_for = "arm64";

  const auto output = run("registry.example/a:1");

  ASSERT_TRUE(output) << output.error().message;
  EXPECT_THAT(ran, ElementsAre("skopeo", "skopeo"));
  EXPECT_EQ(output->json["cmd"], kube::Json({"a b"}));
  only_for = "s390x";
  EXPECT_THAT(run("registry.example/a:1").error().message,
              EndsWith("skopeo: no image for architecture amd64"));
}

TEST_F(EntrypointVerb, ReportsEveryFailure) {
  EXPECT_EQ(run("pg").error().code, Code::exec_missing);
  EXPECT_EQ(run("--help").error().code, Code::usage);
  programs["skopeo"] = {1, "", "manifest unknown\n"};
  programs["crane"] = {1, "", "denied\n"};
  EXPECT_THAT(run("pg").error().message, HasSubstr("skopeo: manifest unknown; crane: denied"));
}

TEST_F(EntrypointVerb, AnImageWithoutACommandHasNoAnnotation) {
  programs["skopeo"] = {0, R"({"config":{}})", ""};

  EXPECT_THAT(render(run("pg").value(), OutputFormat::table), HasSubstr("none: the image has no"));
}

}  // namespace
}  // namespace cronlatch::plugin
