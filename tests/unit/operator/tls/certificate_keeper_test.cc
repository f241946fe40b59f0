// SPDX-License-Identifier: Apache-2.0
#include "operator/tls/certificate_keeper.h"

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

const std::string kSecret = "/api/v1/namespaces/cronlatch/secrets/cronlatch-webhook-tls";
const std::string kHooks =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cronlatch";

struct Scene {
  FakeApi api;
  HandClock clock;
  Log log{LogFormat::text, Level::error, clock, [](std::string_view) {}};
  std::vector<Certificate> shown;
  CertificateKeeper keeper = replica();
  bool leads = true;

  Scene() {
    api.put(kHooks, {{"webhooks",
                      {{{"name", "cronjobs.cronlatch.dev"}, {"clientConfig", Json::object()}},
                       {{"name", "annotated-jobs-need-the-operator.cronlatch.dev"},
                        {"clientConfig", Json::object()}}}}});
  }
  CertificateKeeper replica() {
    return {{"cronlatch", "cronlatch"}, api, clock, log, [this](const Certificate& c) {
              shown.push_back(c);
            }};
  }
  bool keep() {
    return keeper.keep([this] { return leads; });
  }
  std::string trusted(std::size_t hook) const {
    const auto bundle = decode_base64(
        string_at(api.at(kHooks)->at("webhooks").at(hook), {"clientConfig", "caBundle"}));
    return bundle ? *bundle : "";
  }
  std::string stored(const char* key) const { return kube::secret_value(*api.at(kSecret), key); }
};

TEST(CertificateKeeper, CreatesTheSecretSetsBothBundlesAndReportsTheCertificate) {
  Scene scene;

  EXPECT_FALSE(scene.keeper.load());
  EXPECT_TRUE(scene.keep());
  EXPECT_TRUE(scene.keeper.load());

  EXPECT_EQ(scene.trusted(0), scene.stored("ca.crt"));
  EXPECT_EQ(scene.trusted(1), scene.stored("ca.crt"));
  ASSERT_EQ(scene.shown.size(), 1U);
  EXPECT_EQ(scene.shown[0].chain_pem, scene.stored("tls.crt"));
  EXPECT_EQ(string_at(*scene.api.at(kSecret), {"type"}), "Opaque");  // as in the chart
}

TEST(CertificateKeeper, ClientsOfTheFormerCaAreServedAfterTheSecretIsLost) {
  for (const bool is_deleted : {true, false}) {
    Scene scene;
    scene.keep();
    scene.keeper.load();
    const std::string ca = scene.stored("ca.crt"), leaf = scene.stored("tls.crt");
    scene.api.erase(kSecret);
    if (!is_deleted) scene.api.put(kSecret, {{"type", "Opaque"}});  // created by helm upgrade

    EXPECT_TRUE(scene.keep());
    EXPECT_EQ(split_bundle(scene.stored("ca.crt")).size(), 2U);
    EXPECT_TRUE(scene.stored("ca.crt").ends_with(ca));
    EXPECT_EQ(scene.trusted(1), scene.stored("ca.crt"));
    EXPECT_EQ(scene.stored("tls.crt"), leaf) << "until every API server trusts the new CA";
    EXPECT_EQ(string_at(*scene.api.at(kSecret), {"type"}), "Opaque");

    scene.clock.pass(61s);
    EXPECT_TRUE(scene.keep());
    EXPECT_NE(scene.stored("tls.crt"), leaf);
    EXPECT_TRUE(inspect(scene.stored("tls.crt"), {.ca_pem = scene.stored("ca.crt")})->signed_by_ca);
  }
}

// As in an update to certificate-mode own: the leader is still an old replica.
TEST(CertificateKeeper, CreatesTheFirstCertificateWhenTheLeaderDoesNot) {
  Scene scene;
  scene.api.put(kSecret, {{"type", "Opaque"}});

  EXPECT_FALSE(scene.keeper.load());
  scene.clock.pass(10s);
  EXPECT_FALSE(scene.keeper.load());
  EXPECT_TRUE(scene.api.writes().empty());  // the leader has its time
  scene.clock.pass(10s);
  EXPECT_FALSE(scene.keeper.load());
  EXPECT_TRUE(scene.keeper.load());

  ASSERT_EQ(scene.shown.size(), 1U);
  EXPECT_EQ(scene.shown[0].chain_pem, scene.stored("tls.crt"));
  EXPECT_EQ(scene.trusted(1), scene.stored("ca.crt"));
}

TEST(CertificateKeeper, FillsTheEmptySecretOfTheChart) {
  Scene scene;
  scene.api.put(kSecret, {{"type", "Opaque"}, {"metadata", {{"labels", {{"a", "b"}}}}}});

  EXPECT_TRUE(scene.keep());

  EXPECT_NE(scene.stored("tls.key"), "");
  EXPECT_EQ(string_at(*scene.api.at(kSecret), {"type"}), "Opaque");
  EXPECT_EQ(string_at(*scene.api.at(kSecret), {"metadata", "labels", "a"}), "b");
}

TEST(CertificateKeeper, WritesNothingForAValidCertificate) {
  Scene scene;
  scene.keep();
  scene.api.forget_requests();

  EXPECT_TRUE(scene.keep());
  EXPECT_TRUE(scene.keeper.load());
  EXPECT_TRUE(scene.keeper.load());

  EXPECT_TRUE(scene.api.writes().empty());
  EXPECT_EQ(scene.shown.size(), 1U);
}

TEST(CertificateKeeper, RestoresTheBundleOfTheWebhooks) {
  Scene scene;
  scene.keep();
  Json hooks = *scene.api.at(kHooks);
  hooks["webhooks"][1]["clientConfig"].erase("caBundle");  // an upgrade of the chart
  scene.api.put(kHooks, hooks);

  EXPECT_TRUE(scene.keep());

  EXPECT_EQ(scene.trusted(1), scene.stored("ca.crt"));
}

TEST(CertificateKeeper, RenewsTheCaOverThreeRounds) {
  Scene scene;
  scene.keep();
  const std::string first_leaf = scene.stored("tls.crt");
  scene.clock.pass(24h * 60);
  scene.keep();  // a leaf that is not due when the CA is
  scene.clock.pass(24h * 427);
  scene.keep();
  scene.clock.pass(61s);
  scene.keep();

  EXPECT_EQ(split_bundle(scene.stored("ca.crt")).size(), 2U);
  EXPECT_EQ(scene.trusted(0), scene.stored("ca.crt"));
  EXPECT_TRUE(inspect(scene.stored("tls.crt"), {.ca_pem = scene.stored("ca.crt")})->signed_by_ca);
  EXPECT_NE(scene.stored("tls.crt"), first_leaf);
}

// Of a bundle, the time of the CA that signed the certificate in use.
TEST(CertificateKeeper, ReportsWhenTheCaOfTheCertificateExpires) {
  Scene scene;
  const WallTime first = {scene.clock.wall().us + Micros(kCaLife).count()};
  const auto seconds = [&] { return scene.shown.back().ca_not_after->us / 1'000'000; };
  scene.keep();
  scene.keeper.load();
  ASSERT_TRUE(scene.shown.back().ca_not_after);
  EXPECT_EQ(seconds(), first.us / 1'000'000);

  scene.clock.pass(60s);
  scene.api.erase(kSecret);
  scene.keep();
  scene.keeper.load();
  EXPECT_EQ(seconds(), first.us / 1'000'000);
  scene.clock.pass(61s);
  scene.keep();
  scene.keeper.load();
  EXPECT_EQ(seconds(), first.us / 1'000'000 + 60);
}

TEST(CertificateKeeper, WritesNothingWithoutPermission) {
  Scene scene;
  scene.leads = false;

  scene.keep();

  EXPECT_TRUE(scene.api.writes().empty());
}

TEST(CertificateKeeper, KeepsItsCertificateWhileTheApiServerIsUnavailable) {
  Scene scene;
  scene.keep();
  scene.keeper.load();
  scene.api.intercept = [](const kube::Request&) {
    return FakeApi::Answer(FakeApi::unreachable());
  };

  EXPECT_TRUE(scene.keeper.load());
  EXPECT_FALSE(scene.keep());
  EXPECT_EQ(scene.shown.size(), 1U);
}

TEST(CertificateKeeper, KeepsItsCertificateWhenTheSecretIsInvalid) {
  Scene scene;
  scene.keep();
  scene.keeper.load();
  scene.api.put(kSecret, {{"data", {{"tls.crt", "%%%"}, {"tls.key", encode_base64("garbage")}}}});

  EXPECT_TRUE(scene.keeper.load());
  EXPECT_EQ(scene.shown.size(), 1U);
  EXPECT_TRUE(scene.keep());  // the leader makes it anew
  EXPECT_TRUE(scene.keeper.load());

  EXPECT_EQ(scene.shown.size(), 2U);
}

TEST(CertificateKeeper, OnlyOneOfTwoLeadersWrites) {
  Scene scene;
  CertificateKeeper other = scene.replica();
  bool raced = false;
  scene.api.intercept = [&](const kube::Request& r) -> std::optional<FakeApi::Answer> {
    if (r.method == kube::Method::create && !raced) {
      raced = true;
      other.keep([] { return true; });
    }
    return std::nullopt;
  };

  EXPECT_TRUE(scene.keep());

  EXPECT_TRUE(raced);
  EXPECT_EQ(scene.trusted(0), scene.stored("ca.crt"));
}

TEST(CertificateKeeper, WorksWithoutWebhooks) {
  Scene scene;
  scene.api.erase(kHooks);

  EXPECT_TRUE(scene.keep());
  EXPECT_TRUE(scene.keeper.load());
}

}  // namespace
}  // namespace cronlatch::op
