// SPDX-License-Identifier: Apache-2.0
// Manifests and configs, valid and invalid.
#include "image/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::image {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

std::string digest(char c) { return "sha256:" + std::string(64, c); }

std::string platform(const std::string& os, const std::string& arch, char c) {
  return R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","size":7,"digest":")" +
         digest(c) + R"(","platform":{"os":")" + os + R"(","architecture":")" + arch + R"("}})";
}

TEST(Manifest, DistinguishesImagesIndexesAndSchemaOne) {
  const auto image = parse_manifest(R"({"schemaVersion":2,"config":{},"layers":[]})");
  const auto old = parse_manifest(R"({"schemaVersion":1,"name":"a","history":[]})");

  ASSERT_TRUE(image.ok() && old.ok());
  EXPECT_EQ(image->kind, Manifest::Kind::image);
  EXPECT_EQ(old->kind, Manifest::Kind::schema_1);
}

TEST(Manifest, ListsLinuxPlatformsWithoutAttestationsAndWindows) {
  const auto manifest =
      parse_manifest(R"({"schemaVersion":2,"manifests":[)" + platform("linux", "amd64", 'a') + "," +
                     platform("linux", "arm64", 'b') + "," + platform("unknown", "unknown", 'c') +
                     "," + platform("windows", "amd64", 'd') + "]}");

  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->kind, Manifest::Kind::index);
  EXPECT_EQ(manifest->linux_platforms,
            (std::vector<PlatformManifest>{{digest('a'), "amd64"}, {digest('b'), "arm64"}}));
}

TEST(Manifest, RefusesInvalidJson) {
  for (const std::string& json :
       {std::string("nonsense"), std::string("[]"), std::string(R"({"manifests":{}})"),
        std::string(
            R"({"manifests":[{"digest":"x","platform":{"os":"linux","architecture":"a"}}]})"),
        std::string(100'000, '['), std::string(kMaxManifestBytes + 1, ' ')})
    EXPECT_FALSE(parse_manifest(json).ok()) << json.substr(0, 80);
}

TEST(Config, ReturnsEntrypointAndCmd) {
  const auto command = parse_config(
      R"({"architecture":"amd64","os":"linux","config":{"Entrypoint":["/e","a"],"Cmd":["b"]}})");

  ASSERT_TRUE(command.ok());
  EXPECT_EQ(*command, (ImageCommand{{"/e", "a"}, {"b"}}));
}

TEST(Config, MayHaveNeither) {
  for (const char* json : {R"({"os":"linux"})", R"({"os":"linux","config":{}})",
                           R"({"os":"linux","config":{"Entrypoint":null,"Cmd":[]}})",
                           R"({"os":"linux","config":{"Entrypoint":[""]}})"}) {
    const auto command = parse_config(json);
    ASSERT_TRUE(command.ok()) << json;
    EXPECT_EQ(*command, ImageCommand{}) << json;
  }
}

TEST(Config, IsRefusedWhenItIsNotForLinux) {
  EXPECT_THAT(parse_config(R"({"os":"windows"})").error().message, HasSubstr("windows"));
}

TEST(Config, IsRefusedAboveTheLimits) {
  const std::string deep =
      R"({"os":"linux","x":)" + std::string(40, '[') + std::string(40, ']') + "}";
  const std::string long_word =
      R"({"os":"linux","config":{"Cmd":[")" + std::string(70'000, 'x') + R"("]}})";
  std::string many = R"({"os":"linux","config":{"Cmd":["x")";
  for (int i = 0; i < 1'100; ++i) many += R"(,"x")";
  for (const std::string& json :
       {deep, long_word, many + "]}}", std::string(R"({"config":{"Cmd":"x"}})"),
        std::string(R"({"config":{"Cmd":[1]}})"), std::string(R"({"config":{"Cmd":["a\u0000b"]}})"),
        std::string(kMaxConfigBytes + 1, ' ')})
    EXPECT_FALSE(parse_config(json).ok()) << json.substr(0, 80);
}

}  // namespace
}  // namespace cronlatch::image
