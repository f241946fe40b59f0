// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/store_namespaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::FakeApi;
using kube::Json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct Scene {
  Settings settings;
  FakeApi api;

  Scene() { settings.store_server_namespaces = {"shop", "billing", "shop"}; }
  void add(const std::string& name, const std::string& phase) {
    api.put("/api/v1/namespaces/" + name,
            Json{{"metadata", {{"name", name}, {"uid", "uid-" + name}}},
                 {"status", {{"phase", phase}}}});
  }
};

TEST(StoreNamespaces, TheNamedOnesAndThatOfTheOperator) {
  Scene scene;
  EXPECT_THAT(*store_namespaces(scene.settings, scene.api),
              ElementsAre(Pair("billing", ""), Pair("cronlatch", ""), Pair("shop", "")));
  EXPECT_THAT(scene.api.requests(), IsEmpty());  // needs no right
}

TEST(StoreNamespaces, ThoseWithTheLabels) {
  Scene scene;
  scene.settings.store_server_namespace_labels = {{"a", "b"}, {"team", "reports"}};
  scene.add("labeled", "Active");
  scene.add("going", "Terminating");

  EXPECT_THAT(*store_namespaces(scene.settings, scene.api),
              ElementsAre(Pair("billing", ""), Pair("cronlatch", ""),
                          Pair("labeled", "uid-labeled"), Pair("shop", "")));
  EXPECT_THAT(scene.api.requests().front().query,
              Contains(Pair("labelSelector", "a=b,team=reports")));
}

TEST(StoreNamespaces, AFailedListIsAnErrorAndNoEmptyList) {
  Scene scene;
  scene.settings.store_server_namespace_labels = {{"a", "b"}};
  scene.api.intercept = [](const kube::Request&) { return FakeApi::unreachable(); };
  EXPECT_FALSE(store_namespaces(scene.settings, scene.api));
  scene.api.intercept = [](const kube::Request&) {
    return kube::Response{403, Json{{"message", "forbidden"}}};
  };
  EXPECT_FALSE(store_namespaces(scene.settings, scene.api));
}

}  // namespace
}  // namespace cronlatch::op
