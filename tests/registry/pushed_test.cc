// SPDX-License-Identifier: Apache-2.0
// Images that buildah built and pushed in each of its formats, and from an archive of `docker
// save`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "support/buildah.h"

namespace cronlatch::registry {
namespace {

using namespace cronlatch::testing;

using PushedImages = RealRegistry;

TEST_F(PushedImages, BuiltByBuildahReturnTheirEntrypointInEveryFormat) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  const Words config = {"--entrypoint", R"(["/e","$HOME"])", "--cmd", "'a b' c"};
  buildah.build("as-oci", config, "oci");
  buildah.build("as-docker", config, "docker");
  const std::string at = "docker://" + registry.name();
  buildah.push("as-oci", at + "/built/oci:1", {"--format", "oci"});
  buildah.push("as-docker", at + "/built/docker:1", {"--format", "v2s2"});
  buildah.push("as-docker", at + "/built/old:1", {"--format", "v2s1"});
  Client client(config_for(registry));

  for (const char* name : {"oci", "docker", "old"}) {
    const LookupResult result = client.find(registry.name() + "/built/" + name + ":1");
    EXPECT_EQ(entrypoint(result), (Words{"/e", "$HOME"})) << name;
    EXPECT_EQ(cmd(result), (Words{"a b", "c"})) << name;
  }
}

TEST_F(PushedImages, WithAnEntrypointInShellFormReturnAnArray) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  buildah.build("shell", {"--entrypoint", R"(exec /e "$HOME" $1)"}, "docker");
  buildah.build("none", {"--cmd", ""});
  for (const char* name : {"shell", "none"})
    buildah.push(name, "docker://" + registry.name() + "/" + name + ":1");
  Client client(config_for(registry));

  const LookupResult shell = client.find(registry.name() + "/shell:1");
  const LookupResult none = client.find(registry.name() + "/none:1");

  EXPECT_EQ(entrypoint(shell), (Words{"/bin/sh", "-c", R"(exec /e "$HOME" $1)"}));
  EXPECT_EQ(cmd(shell), Words());
  EXPECT_EQ(entrypoint(none), Words());
  EXPECT_EQ(cmd(none), Words());
}

TEST_F(PushedImages, InAnIndexReturnTheCommandOfEachPlatform) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  buildah.build("amd", {"--arch", "amd64", "--entrypoint", R"(["/amd"])"}, "docker");
  buildah.build("arm", {"--arch", "arm64", "--entrypoint", R"(["/arm"])"}, "docker");
  buildah.build_list("both", {"amd", "arm"});
  buildah.push_list("both", "docker://" + registry.name() + "/both:1");
  Client client(config_for(registry));

  const LookupResult result = client.find(registry.name() + "/both:1", {"amd64", "arm64"});

  ASSERT_EQ(result.info.platforms.size(), 2U) << result.error;
  EXPECT_EQ(entrypoint(result, 0), Words{"/amd"});
  EXPECT_EQ(entrypoint(result, 1), Words{"/arm"});
}

TEST_F(PushedImages, FromAnArchiveReturnTheirEntrypoint) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  const ScratchDir dir;
  const std::string archive = "docker-archive:" + dir.path("saved.tar");
  buildah.build("saved", {"--entrypoint", R"(["/saved"])", "--cmd", "x"}, "docker");
  buildah.push("saved", archive + ":saved:1");
  registry.push_from(archive, "saved:1");
  Client client(config_for(registry));

  const LookupResult result = client.find(registry.name() + "/saved:1");

  EXPECT_EQ(entrypoint(result), Words{"/saved"});
  EXPECT_EQ(cmd(result), Words{"x"});
}

}  // namespace
}  // namespace cronlatch::registry
