// SPDX-License-Identifier: Apache-2.0
// Image names, compared with container runtimes.
#include "image/reference.h"

#include <gtest/gtest.h>

namespace cronlatch::image {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string full_name(const std::string& text) {
  const auto reference = parse_reference(text);
  return reference ? reference->text() : "refused: " + reference.error().message;
}

TEST(Reference, HasTheDefaultsOfContainerRuntimes) {
  const std::pair<std::string, std::string> cases[] = {
      {"pg", "docker.io/library/pg:latest"},
      {"pg:16", "docker.io/library/pg:16"},
      {"team/pg", "docker.io/team/pg:latest"},
      {"docker.io/pg:1", "docker.io/library/pg:1"},
      {"index.docker.io/team/pg", "docker.io/team/pg:latest"},
      {"ghcr.io/a/b/c:v1.2_3-x", "ghcr.io/a/b/c:v1.2_3-x"},
      {"registry.corp:5000/pg", "registry.corp:5000/pg:latest"},
      {"registry.corp:5000/pg:9", "registry.corp:5000/pg:9"},
      {"localhost/pg", "localhost/pg:latest"},
      {"localhost:5000/pg", "localhost:5000/pg:latest"},
      {"[::1]:5000/pg", "[::1]:5000/pg:latest"},
      {"GHCR.io/a/b", "ghcr.io/a/b:latest"},
      {"a__b/c--d.e", "docker.io/a__b/c--d.e:latest"},
      {"pg@" + kDigest, "docker.io/library/pg@" + kDigest},
      {"ghcr.io/a/b:1@" + kDigest, "ghcr.io/a/b@" + kDigest},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(full_name(text), want) << text;
}

TEST(Reference, IsRefusedWhenARuntimeRefusesIt) {
  for (const char* text : {"",
                           ":1",
                           "@",
                           "pg:",
                           "pg:-1",
                           "pg:a/b",
                           "Pg",
                           "a//b",
                           "/a",
                           "a/",
                           "ghcr.io/",
                           "ghcr.io/A",
                           "ghcr.io/a_",
                           "ghcr.io/a..b",
                           "ghcr.io/a___b",
                           "ghcr.io:0/a",
                           "ghcr.io:99999/a",
                           "ghcr.io:x/a",
                           "-ghcr.io/a",
                           "gh cr.io/a",
                           "ghcr.io/a\nb",
                           "pg@sha256:abc",
                           "pg@md5:aaaa",
                           "https://ghcr.io/a",
                           "[::1/a"})
    EXPECT_FALSE(parse_reference(text).ok()) << text << " is " << full_name(text);
}

TEST(Reference, WithARegistryOfOneWordInUpperCaseIsNotAnotherImageOnDockerHub) {
  const auto reference = parse_reference("REGISTRY/team/tool");

  ASSERT_FALSE(reference.ok()) << full_name("REGISTRY/team/tool");
  EXPECT_EQ(reference.error().message, "its registry is one word in upper case");
  EXPECT_EQ(full_name("REGISTRY:5000/team/tool"), "registry:5000/team/tool:latest");
  EXPECT_EQ(full_name("LOCALHOST/team/tool"), "localhost/team/tool:latest");
}

TEST(Reference, WithALoginIsRefusedAndDoesNotRepeatIt) {
  const auto reference = parse_reference("me:s3cret@ghcr.io/a/b");

  ASSERT_FALSE(reference.ok());
  EXPECT_EQ(reference.error().message, "it contains a user name");
}

TEST(Reference, HasNoTagWhenItHasADigest) {
  const auto reference = parse_reference("pg:16@" + kDigest);

  ASSERT_TRUE(reference.ok());
  EXPECT_EQ(*reference, (Reference{"docker.io", "library/pg", "", kDigest}));
}

}  // namespace
}  // namespace cronlatch::image
