// SPDX-License-Identifier: Apache-2.0
#include "operator/tls/certificate_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using namespace std::chrono_literals;

const WallTime kNow{1'763'690'000'000'000};
const std::vector<std::string> kNames{"cronlatch-webhook.cronlatch.svc", "cronlatch-webhook"};

WallTime after(std::chrono::hours time) { return {kNow.us + Micros(time).count()}; }
constexpr std::chrono::hours kDay{24};

CertificatePlan plan(const CertificateView& view, WallTime now) {
  auto made = plan_certificate(view, now);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return std::move(*made);
}

// A valid state, as of kNow.
CertificateView settled() {
  const CertificatePlan first = plan({.stored = {}, .dns_names = kNames}, kNow);
  return {.stored = first.next, .trusted = true, .trusted_for = 1h, .dns_names = kNames};
}

// Whether an API server that trusts `bundle` accepts the leaf.
bool taken(const std::string& leaf, const std::string& bundle, WallTime now,
           const std::vector<std::string>& names = kNames) {
  for (const std::string& ca : split_bundle(bundle)) {
    const auto facts = inspect(leaf, {.ca_pem = ca, .dns_names = names});
    if (facts && facts->signed_by_ca && facts->names_match && now < facts->not_after) return true;
  }
  return false;
}

TEST(CertificatePlan, CreatesACaAndAMatchingLeaf) {
  const CertificatePlan made = plan({.stored = {}, .dns_names = kNames}, kNow);

  EXPECT_EQ(made.step, CertificateStep::store);
  const auto ca = inspect(made.next.ca_pem, {.key_pem = made.next.ca_key_pem});
  const auto leaf =
      inspect(made.next.leaf_pem,
              {.key_pem = made.next.leaf_key_pem, .ca_pem = made.next.ca_pem, .dns_names = kNames});
  ASSERT_TRUE(ca.ok() && leaf.ok());
  EXPECT_TRUE(ca->is_ca && ca->key_matches);
  EXPECT_TRUE(leaf->key_matches && leaf->signed_by_ca && leaf->names_match);
  EXPECT_FALSE(leaf->is_ca);
  EXPECT_EQ(leaf->not_after.us, after(90 * kDay).us);
}

TEST(CertificatePlan, SetsTheBundleOfTheWebhooksNext) {
  CertificateView view = settled();
  view.trusted = false;
  EXPECT_EQ(plan(view, kNow).step, CertificateStep::trust);
}

TEST(CertificatePlan, DoesNothingForAValidCertificate) {
  EXPECT_EQ(plan(settled(), after(59 * kDay)).step, CertificateStep::nothing);
}

TEST(CertificatePlan, RenewsTheLeafAtTwoThirdsOfItsLifeUnderTheSameCa) {
  const CertificateView view = settled();

  const CertificatePlan renewed = plan(view, after(61 * kDay));

  EXPECT_EQ(renewed.step, CertificateStep::store);
  EXPECT_EQ(renewed.next.ca_pem, view.stored->ca_pem);
  EXPECT_NE(renewed.next.leaf_pem, view.stored->leaf_pem);
}

TEST(CertificatePlan, RotatesTheCaWithAServedLeafTrustedAtAllTimes) {
  // Given a CA near two thirds of its life and a leaf made since
  CertificateView view = settled();
  view.stored = plan(view, after(486 * kDay)).next;
  ASSERT_EQ(plan(view, after(486 * kDay)).step, CertificateStep::nothing);
  const StoredCertificate old = *view.stored;
  const WallTime now = after(487 * kDay);
  std::string trusted = old.ca_pem;  // what the API servers trust
  // When the CA is due: first it joins the bundle, and the leaf stays
  CertificatePlan next = plan(view, now);
  ASSERT_EQ(next.step, CertificateStep::store);
  EXPECT_EQ(next.next.leaf_pem, old.leaf_pem);
  EXPECT_EQ(split_bundle(next.next.ca_pem).size(), 2U);
  EXPECT_TRUE(taken(next.next.leaf_pem, trusted, now));
  view.stored = next.next;
  // then the webhooks trust both
  view.trusted = false;
  next = plan(view, now);
  ASSERT_EQ(next.step, CertificateStep::trust);
  trusted = next.next.ca_pem;
  EXPECT_TRUE(taken(view.stored->leaf_pem, trusted, now));
  view.trusted = true;
  // then nothing, until every API server uses the bundle
  view.trusted_for = 59s;
  EXPECT_EQ(plan(view, now).step, CertificateStep::nothing);
  view.trusted_for = 60s;
  next = plan(view, now);
  // Then a leaf of the new CA, while one of the old is still accepted
  ASSERT_EQ(next.step, CertificateStep::store);
  EXPECT_NE(next.next.leaf_pem, old.leaf_pem);
  EXPECT_TRUE(inspect(next.next.leaf_pem, {.ca_pem = next.next.ca_pem})->signed_by_ca);
  EXPECT_TRUE(taken(next.next.leaf_pem, trusted, now));
  EXPECT_TRUE(taken(old.leaf_pem, trusted, now));
  view.stored = next.next;
  EXPECT_EQ(plan(view, now).step, CertificateStep::nothing);
}

TEST(CertificatePlan, RemovesAnExpiredCa) {
  CertificateView view = settled();
  view.stored = plan(view, after(487 * kDay)).next;  // a new CA beside the old
  view.stored = plan(view, after(731 * kDay)).next;  // a leaf of the new one
  ASSERT_EQ(split_bundle(view.stored->ca_pem).size(), 2U);

  const CertificatePlan next = plan(view, after(731 * kDay));

  EXPECT_EQ(next.step, CertificateStep::store);
  EXPECT_EQ(split_bundle(next.next.ca_pem).size(), 1U);
}

TEST(CertificatePlan, KeepsAWorkingLeafWhenOnlyTheCaKeyWasLost) {
  CertificateView view = settled();
  view.stored->ca_key_pem = "lost";

  const CertificatePlan next = plan(view, kNow);

  EXPECT_EQ(next.step, CertificateStep::store);
  EXPECT_EQ(next.next.leaf_pem, view.stored->leaf_pem);
  EXPECT_TRUE(taken(next.next.leaf_pem, next.next.ca_pem, kNow));
  EXPECT_EQ(split_bundle(next.next.ca_pem).size(), 2U);
}

struct Wrong {
  const char* what;
  void (*spoil)(CertificateView&);
};
class CertificatePlanWrong : public ::testing::TestWithParam<Wrong> {};

TEST_P(CertificatePlanWrong, ReplacesAnUnusableCertificate) {
  CertificateView view = settled();
  GetParam().spoil(view);

  const CertificatePlan next = plan(view, kNow);

  ASSERT_EQ(next.step, CertificateStep::store);
  EXPECT_NE(next.next.leaf_pem, view.stored->leaf_pem);
  EXPECT_TRUE(taken(next.next.leaf_pem, next.next.ca_pem, kNow, view.dns_names));
  EXPECT_TRUE(inspect(next.next.leaf_pem, {.key_pem = next.next.leaf_key_pem})->key_matches);
  view.stored = next.next;
  EXPECT_EQ(plan(view, kNow).step, CertificateStep::nothing);
}

INSTANTIATE_TEST_SUITE_P(
    Contents, CertificatePlanWrong,
    ::testing::Values(
        Wrong{"empty", [](CertificateView& v) { v.stored = StoredCertificate{}; }},
        Wrong{"garbage", [](CertificateView& v) { v.stored->leaf_pem = "garbage"; }},
        Wrong{"foreign_key",
              [](CertificateView& v) { v.stored->leaf_key_pem = settled().stored->leaf_key_pem; }},
        Wrong{"foreign_leaf",
              [](CertificateView& v) {
                const CertificateView other = settled();
                v.stored->leaf_pem = other.stored->leaf_pem;
                v.stored->leaf_key_pem = other.stored->leaf_key_pem;
              }},
        Wrong{"other_names", [](CertificateView& v) { v.dns_names = {"renamed.cronlatch.svc"}; }}),
    [](const auto& wrong) { return wrong.param.what; });

}  // namespace
}  // namespace cronlatch::op
