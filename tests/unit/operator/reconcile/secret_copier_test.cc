// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/secret_copier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "kube/secrets.h"
#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using kube::Json;
using kube::string_at;
using namespace std::chrono_literals;

const std::string kSource = kube::secret_path("cronlatch", "redis");

struct Scene {
  Settings settings;
  FakeApi api;
  HandClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};
  SecretCopier copier{settings, api, clock, log};

  Scene() {
    settings.copy_secret_source = "redis";
    settings.copy_secret_namespaces = {"one", "two"};
    source("secret");
  }
  void source(const std::string& password) {
    api.put(kSource, {{"type", "Opaque"}, {"data", {{"password", encode_base64(password)}}}});
  }
  bool copy() {
    return copier.copy([] { return true; });
  }
  std::string password(const std::string& ns) const {
    const auto copied = api.at(kube::secret_path(ns, "cronlatch-store"));
    return copied ? kube::secret_value(*copied, "password") : "(none)";
  }
};

TEST(SecretCopier, CopiesIntoTheNamedNamespacesAndNoOther) {
  Scene scene;

  EXPECT_TRUE(scene.copy());

  EXPECT_EQ(scene.password("one"), "secret");
  EXPECT_EQ(scene.password("two"), "secret");
  for (const kube::Request& write : scene.api.writes()) {
    EXPECT_EQ(write.patch_type, kube::PatchType::apply);
    EXPECT_THAT(write.query, ::testing::Not(::testing::Contains(::testing::Pair("force", "true"))));
  }
  EXPECT_EQ(scene.api.writes().size(), 2U);
}

TEST(SecretCopier, CopiesAChange) {
  Scene scene;
  scene.copy();
  scene.source("new");
  scene.copy();
  EXPECT_EQ(scene.password("one"), "new");
}

TEST(SecretCopier, WritesNoUnchangedCopyWithinAMinute) {
  Scene scene;
  scene.copy();
  scene.api.forget_requests();
  scene.copy();
  EXPECT_TRUE(scene.api.writes().empty());
}

TEST(SecretCopier, CopiesIntoANamespaceThatWasCreatedAgain) {
  Scene scene;
  scene.copy();
  scene.api.erase(kube::secret_path("two", "cronlatch-store"));
  scene.clock.pass(1min);
  scene.copy();
  EXPECT_EQ(scene.password("two"), "secret");
}

TEST(SecretCopier, ContinuesAfterARejectedCopy) {
  Scene scene;
  scene.api.intercept = [](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.path != kube::secret_path("one", "cronlatch-store")) return std::nullopt;
    return kube::Response{409, Json{{"message", "conflict with \"helm\""}}};
  };

  EXPECT_FALSE(scene.copy());

  EXPECT_EQ(scene.password("two"), "secret");
}

TEST(SecretCopier, KeepsTheCopiesOfADeletedSource) {
  Scene scene;
  scene.copy();
  scene.api.erase(kSource);
  scene.clock.pass(11min);

  EXPECT_FALSE(scene.copy());

  EXPECT_EQ(scene.password("one"), "secret");
}

TEST(SecretCopier, NeverOverwritesItsSource) {
  Scene scene;
  scene.settings.store_secret = "redis";
  scene.settings.copy_secret_namespaces = {"cronlatch"};

  EXPECT_TRUE(scene.copy());

  EXPECT_TRUE(scene.api.writes().empty());
}

}  // namespace
}  // namespace cronlatch::op
