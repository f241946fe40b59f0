// SPDX-License-Identifier: Apache-2.0
#include "admission/json_patch.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;

// What every edit must hold: the noted patch makes of the old object what the edit made of it.
void expect_patch_tells_all(const Json& before, const Edit& edit) {
  EXPECT_EQ(before.patch(edit.operations()), edit.object()) << edit.operations();
}

TEST(Edit, MakesTheObjectsOnTheWay) {
  const Json before = {{"spec", {{"template", nullptr}}}};
  Json object = before;
  Edit edit(object);
  edit.set(json_pointer({"spec", "template", "labels", "a/b~c"}), "x");
  EXPECT_EQ(edit.object()["spec"]["template"]["labels"]["a/b~c"], "x");
  EXPECT_EQ(edit.operations().back()["path"], "/spec/template/labels/a~1b~0c");
  expect_patch_tells_all(before, edit);
}

TEST(Edit, NotesNothingWhereNothingChanges) {
  Json object = {{"a", {{"b", 1}}}};
  Edit edit(object);
  edit.set("/a/b", 1);
  edit.remove("/a/c");
  edit.remove("/x/y");
  EXPECT_EQ(edit.operations(), Json::array());
}

TEST(Edit, ReplacesRemovesAndInserts) {
  const Json before = {{"list", Json::array({"b", "c"})}, {"gone", 1}, {"old", 1}};
  Json object = before;
  Edit edit(object);
  edit.prepend("/list", "a");
  edit.append("/list", "d");
  edit.set("/list/1", "B");
  edit.remove("/list/2");
  edit.remove("/gone");
  edit.set("/old", 2);
  edit.append("/none/yet", "first");
  EXPECT_EQ(edit.object(), (Json{{"list", Json::array({"a", "B", "d"})},
                                 {"old", 2},
                                 {"none", {{"yet", Json::array({"first"})}}}}));
  expect_patch_tells_all(before, edit);
}

TEST(Edit, LeavesAloneWhatIsNoContainer) {
  const Json before = {{"text", "x"}, {"list", Json::array({1})}};
  Json object = before;
  Edit edit(object);
  edit.set("/text/a", 1);
  edit.set("/text/a/b", 1);
  edit.append("/text", 1);
  edit.set("/list/7", 1);
  edit.set("/list/x", 1);
  EXPECT_EQ(edit.object(), before);
  EXPECT_EQ(edit.operations(), Json::array());
  EXPECT_EQ(edit.at("/list/7"), nullptr);
  EXPECT_EQ(*edit.at("/list/0"), 1);
}

}  // namespace
}  // namespace cronlatch::op
