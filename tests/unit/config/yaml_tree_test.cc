// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_tree.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

std::string refusal(const std::string& text, YamlLimits limits = {}) {
  const Result<YamlNode> root = read_yaml("f", text, limits);
  return root.ok() ? "accepted" : root.error().message;
}

TEST(YamlTree, KeepsTextOrderAndLines) {
  const Result<YamlNode> root =
      read_yaml("f", "b: 010\na:\n- \"x\"\n- {k: [1, ~]}\n# end\nc:\n  d: e\n");
  ASSERT_TRUE(root.ok()) << root.error().message;
  ASSERT_EQ(root->entries.size(), 3U);
  EXPECT_EQ(root->entries[0].key, "b");
  EXPECT_EQ(root->entries[0].value.text, "010");
  EXPECT_TRUE(root->entries[0].value.plain);
  const YamlNode* const list = root->find("a");
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_FALSE(list->items[0].plain);
  EXPECT_EQ(list->items[0].line, 3);
  EXPECT_EQ(list->items[1].find("k")->items[1].kind, YamlNode::Kind::null);
  EXPECT_EQ(root->find("c")->find("d")->text, "e");
  EXPECT_EQ(root->entries[2].line, 6);
  EXPECT_EQ(root->find("none"), nullptr);
}

TEST(YamlTree, IsNullForAnEmptyFile) {
  for (const char* text : {"", "\n# nothing\n", "---\n"}) {
    const Result<YamlNode> root = read_yaml("f", text);
    ASSERT_TRUE(root.ok()) << text;
    EXPECT_EQ(root->kind, YamlNode::Kind::null) << text;
  }
}

TEST(YamlTree, RefusesDuplicatesAliasesAndSecondDocuments) {
  EXPECT_EQ(refusal("a: 1\nb:\n  c: 1\n  c: 2\n"), "f:4: the key \"c\" is also in line 3");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"), "f:2: the file contains more than one document");
  EXPECT_EQ(refusal("a: &x 1\nb: *x\n"), "f:2: an alias (*name) is not supported");
  EXPECT_EQ(refusal("? [a]\n: b\n"), "f:1: a key must be a string");
}

TEST(YamlTree, RefusesLargeAndDeepFiles) {
  EXPECT_EQ(refusal("[[[]]]", {.depth = 3}), "accepted");
  EXPECT_EQ(refusal("[[[[]]]]", {.depth = 3}), "f:1: nested deeper than 3 levels");
  EXPECT_NE(refusal(std::string(200'000, '[')), "accepted");
  EXPECT_EQ(refusal("abcd", {.bytes = 3}), "f:1: the file is 4 bytes long");
}

TEST(YamlTree, NamesThePlaceOfAParseErrorToo) {
  EXPECT_EQ(refusal("a: 1\nb: [1,\n").substr(0, 2), "f:");
  EXPECT_NE(refusal("a: 1\n\tb: 2\n"), "accepted");
  EXPECT_NE(refusal(",\n"), "accepted");
}

}  // namespace
}  // namespace cronlatch
