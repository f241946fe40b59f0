// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch entrypoint` with skopeo and a real registry.
#include <cstdlib>

#include "client.h"
#include "plugin/entrypoint.h"

namespace cronlatch::registry {
namespace {

using namespace cronlatch::testing;

struct NoKubectl final : plugin::Kubectl {
  Result<std::vector<plugin::KubectlResult>> run(const std::vector<plugin::KubectlCall>&) override {
    return Error{Code::system, "the command reads no cluster"};
  }
};

TEST_F(RealRegistry, TheVerbEntrypointReadsTheImageOfTheUser) {
  RegistryServer registry(certificates_);
  registry.push("team/a:1", {R"({"Entrypoint":["/e","$HOME"],"Cmd":["a b"]})"});
  ::setenv("SSL_CERT_FILE", config_for(registry).ca.c_str(), 1);
  const RealClock clock;
  NoKubectl kubectl;
  plugin::Context context{kubectl, clock, {}, {}, {}};
  context.run_program = [&](const std::string& program, const std::vector<std::string>& args) {
    plugin::RealKubectl other({.program = program, .flags = {}}, clock);
    return plugin::run_one(other, plugin::captured(args));
  };
  plugin::Arguments arguments;
  arguments.name = registry.name() + "/team/a:1";

  const auto output = plugin::entrypoint(arguments, context);
  ::unsetenv("SSL_CERT_FILE");

  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->json["entrypoint"], kube::Json({"/e", "$HOME"}));
  EXPECT_EQ(output->json["cmd"], kube::Json({"a b"}));
}

}  // namespace
}  // namespace cronlatch::registry
