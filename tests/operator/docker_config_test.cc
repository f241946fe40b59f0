// SPDX-License-Identifier: Apache-2.0
// Private images: the platform's docker config, with the whole operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "operator_process.h"
#include "private_image.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

class DockerConfig : public PrivateImage {
 protected:
  OperatorProcess::Options options(const std::string& more = "") const {
    return {.more = "lookup: true\nlookup-registries: [\"" + registry_.name() +
                    "\"]\nlookup-architectures: [amd64]\nlookup-ca-file: " + certificates_.ca() +
                    "\nlookup-docker-config: " + dir_.path("config.json") + "\n" + more};
  }
  std::string ask(const OperatorProcess& op) const {
    const auto answer = op.ask(post("/admit/job", review_of_image(image())));
    return answer ? answer->body : "";
  }
  bool gates(const OperatorProcess& op) const {
    return eventually([&] { return ask(op).find("\"patch\"") != std::string::npos; },
                      kPatience * 3);
  }
};

TEST_F(DockerConfig, IsReadAgainAfterAFailure) {
  write(dir_.path("config.json"), docker_config("geheim"));
  OperatorProcess op(options());
  ASSERT_TRUE(eventually([&] { return ask(op).find("auth") != std::string::npos; }));

  write(dir_.path("config.json"), right());

  EXPECT_TRUE(gates(op)) << ask(op);
}

// The arguments and the environment of skopeo.
TEST_F(DockerConfig, PasswordIsInNoArgumentVariableLogOrMetric) {
  write(dir_.path("client"), "#!/bin/sh\n{ tr '\\0' '\\n' </proc/$$/cmdline; env; } >>" +
                                 dir_.path("seen") + "\nexec /usr/bin/skopeo \"$@\"\n");
  std::filesystem::permissions(dir_.path("client"), std::filesystem::perms::owner_all);
  write(dir_.path("config.json"), right());
  OperatorProcess op(options("lookup-program: " + dir_.path("client") + "\n"));
  ASSERT_TRUE(gates(op)) << ask(op);

  const std::string seen = read_file(dir_.path("seen"));
  ASSERT_THAT(seen, HasSubstr("docker://" + registry_.name()));
  ASSERT_THAT(seen, HasSubstr("HTTPS_PROXY="));
  const std::string reported = seen + op.program().err() + op.metrics() + ask(op);
  EXPECT_THAT(reported, Not(HasSubstr(RegistryServer::kPassword)));
  EXPECT_THAT(reported, Not(HasSubstr(cronlatch::to_base64(std::string(RegistryServer::kUser) +
                                                           ":" + RegistryServer::kPassword))));
}

}  // namespace
}  // namespace cronlatch::testing
