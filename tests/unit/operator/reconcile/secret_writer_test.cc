// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/secret_writer.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/secrets.h"
#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using kube::Json;
using namespace std::chrono_literals;

struct Scene {
  Settings settings;
  FakeApi api;
  HandClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};
  SecretWriter writer{settings, api, clock, log};

  void write(const std::string& uid, const char* password = "c2VjcmV0") {
    const SecretWriter::Content content{"redis", "Opaque", {{"password", password}}};
    EXPECT_TRUE(writer.write({"shop", uid}, content, [] { return true; }));
  }
  // Rounds for `time`, as the operator executes them. Returns the number of writes.
  std::size_t writes_in(Seconds time, Seconds interval, const std::string& uid) {
    api.forget_requests();
    for (Seconds passed{0}; passed < time; passed += interval) {
      write(uid);
      clock.pass(interval);
    }
    return api.writes().size();
  }
};

TEST(SecretWriter, RewritesAnUnchangedSecretOnceAMinuteWithoutAUid) {
  Scene scene;
  EXPECT_EQ(scene.writes_in(600s, 15s, ""), 10U);
}

// The copier has one round a minute, and none of them must be skipped.
TEST(SecretWriter, RewritesAnUnchangedSecretInEachRoundOfAMinute) {
  Scene scene;
  EXPECT_EQ(scene.writes_in(600s, 60s, ""), 10U);
}

TEST(SecretWriter, RewritesAnUnchangedSecretOnceInTenMinutesWithAUid) {
  Scene scene;
  EXPECT_EQ(scene.writes_in(1200s, 15s, "u1"), 2U);
}

TEST(SecretWriter, WritesAChangeAtOnce) {
  for (const char* uid : {"", "u1"}) {
    Scene scene;
    scene.write(uid);
    scene.write(uid, "bmV3");
    EXPECT_EQ(scene.api.writes().size(), 2U) << uid;
  }
}

TEST(SecretWriter, WritesAtOnceIntoANamespaceWithAnotherUid) {
  Scene scene;
  scene.write("u1");
  scene.write("u2");
  EXPECT_EQ(scene.api.writes().size(), 2U);
}

TEST(SecretWriter, RetriesAWriteThatFailed) {
  Scene scene;
  bool fails = true;
  scene.api.intercept = [&](const kube::Request&) -> std::optional<FakeApi::Answer> {
    if (!fails) return std::nullopt;
    return kube::Response{404, Json{{"message", "namespaces \"shop\" not found"}}};
  };
  const SecretWriter::Content content{"redis", "Opaque", {{"password", "c2VjcmV0"}}};
  EXPECT_FALSE(scene.writer.write({"shop", ""}, content, [] { return true; }));

  fails = false;
  scene.write("");
  EXPECT_TRUE(scene.api.at(kube::secret_path("shop", "cronlatch-store")));
}

}  // namespace
}  // namespace cronlatch::op
