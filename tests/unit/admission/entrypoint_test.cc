// SPDX-License-Identifier: Apache-2.0
#include "admission/entrypoint.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using Words = std::vector<std::string>;

TEST(ImageIndex, FindsAnImageWithAndWithoutItsTag) {
  Settings settings;
  settings.image_index = {{"reg:5000/team/pg", {"a"}}, {"pg:16", {"b"}}};
  const ImageIndex index(settings);
  const kube::Json pod = kube::Json::object();
  const auto found = [&](const char* image) {
    const EntrypointResult result = index.find({image, "demo", pod});
    const auto* const known = std::get_if<Entrypoint>(&result);
    return known == nullptr ? Words{} : known->entrypoint;
  };
  EXPECT_EQ(found("reg:5000/team/pg:1@sha256:0"), Words{"a"});
  EXPECT_EQ(found("reg:5000/team/pg"), Words{"a"});
  EXPECT_EQ(found("pg:16@sha256:0"), Words{"b"});
  EXPECT_EQ(found("pg:17"), Words{});
  EXPECT_EQ(found("reg:5000/team"), Words{});
  EXPECT_EQ(found("docker.io/library/pg:16"), Words{});  // no default is added
  EXPECT_EQ(found(""), Words{});
}

TEST(ImageIndex, PrefersTheKeyThatContainsMoreOfTheName) {
  Settings settings;
  settings.image_index = {{"pg", {"name"}}, {"pg:16", {"tag"}}, {"pg:16@sha256:0", {"digest"}}};
  const ImageIndex index(settings);
  const kube::Json pod = kube::Json::object();
  const auto first = [&](const char* image) {
    return std::get<Entrypoint>(index.find({image, "demo", pod})).entrypoint.at(0);
  };
  EXPECT_EQ(first("pg:16@sha256:0"), "digest");
  EXPECT_EQ(first("pg:16@sha256:1"), "tag");
  EXPECT_EQ(first("pg:16"), "tag");
  EXPECT_EQ(first("pg:17"), "name");
  EXPECT_EQ(first("pg@sha256:0"), "name");
}

}  // namespace
}  // namespace cronlatch::op
