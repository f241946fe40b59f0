// SPDX-License-Identifier: Apache-2.0
#include "operator/node_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api.h"
#include "support/journal.h"
#include "support/program.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::eventually;
using cronlatch::testing::FakeApi;
using kube::Json;
using ::testing::HasSubstr;

Json node(const std::string& name, const std::string& runtime) {
  return {{"metadata", {{"name", name}, {"uid", name}}},
          {"status",
           {{"nodeInfo", {{"kubeletVersion", "v1.36.0"}, {"containerRuntimeVersion", runtime}}}}}};
}

struct Scene {
  cronlatch::testing::Journal journal;
  FakeApi api;
  NodeWatch nodes{api, journal.clock, journal.log};

  Scene() { api.serve_list("/api/v1/nodes"); }
  void add(const std::string& name, const std::string& runtime) {
    api.put("/api/v1/nodes/" + name, node(name, runtime));
  }
  // The next watch sends these events, and then waits until it is stopped.
  void send(std::vector<kube::WatchEvent> events) {
    api.watches.emplace_back([events = std::move(events)](const kube::Request&,
                                                          const auto& on_event,
                                                          const std::stop_token& stop) {
      for (const kube::WatchEvent& event : events) on_event(event);
      while (!stop.stop_requested()) std::this_thread::yield();
      return FakeApi::Answer(FakeApi::unreachable());
    });
  }
  bool logs(const std::string& text) {
    return eventually([&] { return journal.has(text); });
  }
};

TEST(NodeWatch, ProvesAClusterWhereEveryNodeIsProven) {
  Scene scene;
  scene.add("a", "containerd://2.3.0");
  scene.add("b", "containerd://2.4.1");
  EXPECT_FALSE(scene.nodes.has_image_volumes());  // before the first list
  scene.nodes.start();
  EXPECT_TRUE(scene.logs("every schedulable node supports image volumes"));
  EXPECT_TRUE(scene.nodes.has_image_volumes());
}

TEST(NodeWatch, NamesTheNodeThatIsNotProven) {
  Scene scene;
  scene.add("a", "containerd://2.3.0");
  scene.add("old", "containerd://1.7.2");
  scene.nodes.start();
  EXPECT_TRUE(scene.logs("node old: container runtime"));
  EXPECT_FALSE(scene.nodes.has_image_volumes());
}

TEST(NodeWatch, ProvesAnEmptyClusterWhenItsFirstNodeJoins) {
  Scene scene;
  scene.send({{"ADDED", node("a", "containerd://2.3.0")}});
  scene.nodes.start();
  EXPECT_TRUE(eventually([&] { return scene.nodes.has_image_volumes(); }));
}

TEST(NodeWatch, NoticesANodeThatJoins) {
  Scene scene;
  scene.add("a", "containerd://2.3.0");
  scene.send({{"ADDED", node("old", "cri-o://1.30.0")}});
  scene.nodes.start();
  EXPECT_TRUE(scene.logs("node old: container runtime"));
  EXPECT_FALSE(scene.nodes.has_image_volumes());
}

TEST(NodeWatch, NoticesThatTheLastUnprovenNodeIsDeleted) {
  Scene scene;
  scene.add("a", "containerd://2.3.0");
  scene.add("old", "cri-o://1.30.0");
  scene.send({{"DELETED", node("old", "cri-o://1.30.0")}});
  scene.nodes.start();
  EXPECT_TRUE(eventually([&] { return scene.nodes.has_image_volumes(); }));
}

TEST(NodeWatch, DoesNotProveAClusterWhoseNodesItMayNotList) {
  Scene scene;
  scene.add("a", "containerd://2.3.0");
  scene.api.intercept = [](const kube::Request&) {
    return kube::Response{403, Json{{"message", "nodes is forbidden"}}};
  };
  scene.nodes.start();
  EXPECT_TRUE(scene.logs("nodes is forbidden"));
  EXPECT_FALSE(scene.nodes.has_image_volumes());
}

TEST(NodeWatch, DoesNotUseOldAnswersAfterAnError) {
  Scene scene;
  scene.add("a", "containerd://2.3.0");
  scene.api.watches.emplace_back([](const kube::Request&, const auto&, const std::stop_token&) {
    return FakeApi::Answer(kube::Response{403, Json{{"message", "nodes is forbidden"}}});
  });
  scene.api.intercept = [lists = 0](const kube::Request&) mutable {
    return ++lists == 1 ? std::optional<FakeApi::Answer>()
                        : kube::Response{403, Json{{"message", "nodes is forbidden"}}};
  };
  scene.nodes.start();
  EXPECT_TRUE(scene.logs("cannot read the nodes"));
  EXPECT_FALSE(scene.nodes.has_image_volumes());
}

}  // namespace
}  // namespace cronlatch::op
