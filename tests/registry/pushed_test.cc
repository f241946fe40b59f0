// SPDX-License-Identifier: Apache-2.0
// Images as people push them: built by buildah, in each of its formats, and by way of an archive as
// `docker save` writes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "support/buildah.h"

namespace cronlatch::registry {
namespace {

using namespace cronlatch::testing;

using PushedImages = RealRegistry;

TEST_F(PushedImages, OfBuildahTellTheirEntrypointInEveryFormat) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  const Words config = {"--entrypoint", R"(["/e","$HOME"])", "--cmd", "'a b' c"};
  buildah.build("as-oci", config, "oci");
  buildah.build("as-docker", config, "docker");
  const std::string at = "docker://" + registry.name();
  buildah.push("as-oci", at + "/built/oci:1", {"--format", "oci"});
  buildah.push("as-docker", at + "/built/docker:1", {"--format", "v2s2"});
  buildah.push("as-docker", at + "/built/old:1", {"--format", "v2s1"});
  Client client(wish(registry));

  for (const char* name : {"oci", "docker", "old"}) {
    const Told told = client.find(registry.name() + "/built/" + name + ":1");
    EXPECT_EQ(entrypoint(told), (Words{"/e", "$HOME"})) << name;
    EXPECT_EQ(cmd(told), (Words{"a b", "c"})) << name;
  }
}

TEST_F(PushedImages, OfShellFormAreAnArrayLikeAnyOther) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  buildah.build("shell", {"--entrypoint", R"(exec /e "$HOME" $1)"}, "docker");
  buildah.build("none", {"--cmd", ""});
  for (const char* name : {"shell", "none"})
    buildah.push(name, "docker://" + registry.name() + "/" + name + ":1");
  Client client(wish(registry));

  const Told shell = client.find(registry.name() + "/shell:1");
  const Told none = client.find(registry.name() + "/none:1");

  EXPECT_EQ(entrypoint(shell), (Words{"/bin/sh", "-c", R"(exec /e "$HOME" $1)"}));
  EXPECT_EQ(cmd(shell), Words());
  EXPECT_EQ(entrypoint(none), Words());
  EXPECT_EQ(cmd(none), Words());
}

TEST_F(PushedImages, OfAListTellEachPlatformItsOwn) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  buildah.build("amd", {"--arch", "amd64", "--entrypoint", R"(["/amd"])"}, "docker");
  buildah.build("arm", {"--arch", "arm64", "--entrypoint", R"(["/arm"])"}, "docker");
  buildah.build_list("both", {"amd", "arm"});
  buildah.push_list("both", "docker://" + registry.name() + "/both:1");
  Client client(wish(registry));

  const Told told = client.find(registry.name() + "/both:1", {"amd64", "arm64"});

  ASSERT_EQ(told.looked.on.size(), 2U) << told.why;
  EXPECT_EQ(entrypoint(told, 0), Words{"/amd"});
  EXPECT_EQ(entrypoint(told, 1), Words{"/arm"});
}

TEST_F(PushedImages, OfAnArchiveTellWhatWasSaved) {
  RegistryServer registry(certificates_);
  const Buildah buildah(registry.trust());
  const ScratchDir dir;
  const std::string archive = "docker-archive:" + dir.path("saved.tar");
  buildah.build("saved", {"--entrypoint", R"(["/saved"])", "--cmd", "x"}, "docker");
  buildah.push("saved", archive + ":saved:1");
  registry.push_from(archive, "saved:1");
  Client client(wish(registry));

  const Told told = client.find(registry.name() + "/saved:1");

  EXPECT_EQ(entrypoint(told), Words{"/saved"});
  EXPECT_EQ(cmd(told), Words{"x"});
}

}  // namespace
}  // namespace cronlatch::registry
