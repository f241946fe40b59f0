// SPDX-License-Identifier: Apache-2.0
#include "admission/json_patch.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;

// The patch must change the original object to the edited one.
void expect_complete(const Json& before, const PatchBuilder& patch) {
  EXPECT_EQ(before.patch(patch.operations()), patch.object()) << patch.operations();
}

TEST(PatchBuilder, CreatesMissingParents) {
  const Json before = {{"spec", {{"template", nullptr}}}};
  Json object = before;
  PatchBuilder patch(object);
  patch.set(json_pointer({"spec", "template", "labels", "a/b~c"}), "x");
  EXPECT_EQ(patch.object()["spec"]["template"]["labels"]["a/b~c"], "x");
  EXPECT_EQ(patch.operations().back()["path"], "/spec/template/labels/a~1b~0c");
  expect_complete(before, patch);
}

TEST(PatchBuilder, AddsNoOperationWithoutAChange) {
  Json object = {{"a", {{"b", 1}}}};
  PatchBuilder patch(object);
  patch.set("/a/b", 1);
  patch.remove("/a/c");
  patch.remove("/x/y");
  EXPECT_EQ(patch.operations(), Json::array());
}

TEST(PatchBuilder, ReplacesRemovesAndInserts) {
  const Json before = {{"list", Json::array({"b", "c"})}, {"gone", 1}, {"old", 1}};
  Json object = before;
  PatchBuilder patch(object);
  patch.prepend("/list", "a");
  patch.append("/list", "d");
  patch.set("/list/1", "B");
  patch.remove("/list/2");
  patch.remove("/gone");
  patch.set("/old", 2);
  patch.append("/none/yet", "first");
  EXPECT_EQ(patch.object(), (Json{{"list", Json::array({"a", "B", "d"})},
                                  {"old", 2},
                                  {"none", {{"yet", Json::array({"first"})}}}}));
  expect_complete(before, patch);
}

TEST(PatchBuilder, IgnoresPathsThroughScalars) {
  const Json before = {{"text", "x"}, {"list", Json::array({1})}};
  Json object = before;
  PatchBuilder patch(object);
  patch.set("/text/a", 1);
  patch.set("/text/a/b", 1);
  patch.append("/text", 1);
  patch.set("/list/7", 1);
  patch.set("/list/x", 1);
  EXPECT_EQ(patch.object(), before);
  EXPECT_EQ(patch.operations(), Json::array());
  EXPECT_EQ(patch.at("/list/7"), nullptr);
  EXPECT_EQ(*patch.at("/list/0"), 1);
}

}  // namespace
}  // namespace cronlatch::op
