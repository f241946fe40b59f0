// SPDX-License-Identifier: Apache-2.0
// The operator, a real registry, and Jobs without `command`: from the review to the patch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "operator_process.h"
#include "support/base64.h"
#include "support/registry_server.h"
#include "support/tiny_proxy.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ImageLookup : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(name_hosts()) << "no mount namespace for the tests' hosts";
  }
  OperatorProcess::Options options(const std::string& more = "",
                                   const std::string& architectures = "amd64") const {
    return {.more = "lookup: true\nlookup-registries: [\"" + registry_.name() +
                    "\"]\nlookup-architectures: [" + architectures +
                    "]\nlookup-ca-file: " + certificates_.ca() + "\n" + more};
  }
  // The body of the response, followed by the decoded patch.
  static std::string ask(const OperatorProcess& op, const std::string& image) {
    const auto answer = op.ask(post("/admit/job", review_of_image(image)));
    if (!answer || answer->status != 200) return "no answer";
    const std::size_t patch = answer->body.find("\"patch\":\"");
    if (patch == std::string::npos) return answer->body;
    const std::size_t begin = patch + 9;
    return answer->body +
           from_base64(answer->body.substr(begin, answer->body.find('"', begin) - begin));
  }
  Certificates certificates_;
  RegistryServer registry_{certificates_};
};

TEST_F(ImageLookup, PutsTheWrapperBeforeTheLookedUpCommand) {
  registry_.push("team/a:1", {R"_({"Entrypoint":["/e","$(X)"],"Cmd":["c"]})_"});
  OperatorProcess op(options("lookup-pin: true\n"));

  EXPECT_TRUE(eventually([&] {
    return ask(op, registry_.name() + "/team/a:1").find(R"_("--","/e","$$(X)"])_") !=
           std::string::npos;
  }));

  const std::string again = ask(op, registry_.name() + "/team/a:1");
  EXPECT_THAT(again, HasSubstr(R"(/args","value":["c"])"));
  EXPECT_THAT(again, HasSubstr(registry_.name() + "/team/a:1@sha256:"));
  EXPECT_THAT(again, HasSubstr("command-from"));
  EXPECT_THAT(op.metrics(), HasSubstr("cronlatch_entrypoint_lookup_duration_seconds_count 1"));
}

TEST_F(ImageLookup, InjectsTheCommandOfEachPlatform) {
  registry_.push_index("two:1", {{R"_({"Entrypoint":["/e"],"Cmd":["$(X)"]})_", "amd64"},
                                 {R"_({"Entrypoint":["/arm"]})_", "arm64"}});
  OperatorProcess op(options("", "amd64, arm64"));

  EXPECT_TRUE(eventually([&] {
    return ask(op, registry_.name() + "/two:1")
               .find(
                   R"_(--command-by-arch={\"amd64\":[\"/e\",\"$$(X)\"],\"arm64\":[\"/arm\"]}","--"])_") !=
           std::string::npos;
  })) << ask(op, registry_.name() + "/two:1");
}

TEST_F(ImageLookup, AnswersWhileTheRegistryIsUnavailable) {
  registry_.push("a:1", {R"({"Cmd":["known"]})"});
  registry_.push("a:2", {R"({"Cmd":["new"]})"});
  OperatorProcess op(options());
  ASSERT_TRUE(eventually(
      [&] { return ask(op, registry_.name() + "/a:1").find("known") != std::string::npos; }));
  registry_.stop();

  EXPECT_THAT(ask(op, registry_.name() + "/a:1"), HasSubstr("known"));
  EXPECT_TRUE(eventually([&] {
    return ask(op, registry_.name() + "/a:2").find("registry \\\"" + registry_.name()) !=
           std::string::npos;
  }));
  registry_.start();
  EXPECT_TRUE(eventually(
      [&] {
        return ask(op, registry_.name() + "/a:2").find(R"("value":["new"])") != std::string::npos;
      },
      kPatience * 3));
  EXPECT_TRUE(op.alive());
}

TEST_F(ImageLookup, UsesTheProxyOfTheEnvironment) {
  registry_.push("a:1", {R"({"Cmd":["x"]})"});
  for (const bool is_excluded : {false, true}) {
    const TinyProxy proxy;
    OperatorProcess::Options with_proxy = options();
    with_proxy.env = {"HTTPS_PROXY=" + proxy.url(),
                      "NO_PROXY=" + std::string(is_excluded ? "other.test,.test" : "other.test")};
    const OperatorProcess op(with_proxy);

    ASSERT_TRUE(eventually(
        [&] { return ask(op, registry_.name() + "/a:1").find("patch") != std::string::npos; }));

    if (is_excluded)
      EXPECT_EQ(proxy.tunnels(registry_.name()), 0) << proxy.log();
    else
      EXPECT_TRUE(eventually([&] { return proxy.tunnels(registry_.name()) >= 3; })) << proxy.log();
  }
}

TEST_F(ImageLookup, RejectsAnUnlistedRegistry) {
  OperatorProcess op(options());

  EXPECT_THAT(ask(op, "quay.example/a:1"), HasSubstr("is not on the list"));
  EXPECT_THAT(ask(op, "169.254.169.254/a:1"), HasSubstr("is an address"));
  EXPECT_THAT(ask(op, "me:s3cret@" + registry_.name() + "/a:1"), HasSubstr("user name"));
  EXPECT_THAT(op.program().err(), Not(HasSubstr("s3cret")));
}

TEST_F(ImageLookup, LeavesNoProcesses) {
  registry_.push("a:1", {R"({"Cmd":["x"]})"});
  OperatorProcess op(options());
  ASSERT_TRUE(eventually(
      [&] { return ask(op, registry_.name() + "/a:1").find("patch") != std::string::npos; }));

  op.program().signal(SIGTERM);

  EXPECT_EQ(op.program().exit_code(), 0);
}

}  // namespace
}  // namespace cronlatch::testing
