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
  EXPECT_EQ(found(""), Words{});
}

}  // namespace
}  // namespace cronlatch::op
