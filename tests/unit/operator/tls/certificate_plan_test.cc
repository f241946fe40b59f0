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

// Everything in order, as of kNow.
CertificateView settled() {
  const CertificatePlan first = plan({.kept = {}, .dns_names = kNames}, kNow);
  return {.kept = first.next, .trusted = true, .trusted_for = 1h, .dns_names = kNames};
}

// Would an API server that trusts `bundle` take what is shown?
bool taken(const std::string& leaf, const std::string& bundle, WallTime now,
           const std::vector<std::string>& names = kNames) {
  for (const std::string& ca : split_bundle(bundle)) {
    const auto facts = examine(leaf, {.ca_pem = ca, .dns_names = names});
    if (facts && facts->signed_by_ca && facts->names_fit && now < facts->not_after) return true;
  }
  return false;
}

TEST(CertificatePlan, BeginsWithACaAndALeafThatFit) {
  const CertificatePlan made = plan({.kept = {}, .dns_names = kNames}, kNow);

  EXPECT_EQ(made.step, CertificateStep::store);
  const auto ca = examine(made.next.ca_pem, {.key_pem = made.next.ca_key_pem});
  const auto leaf =
      examine(made.next.leaf_pem,
              {.key_pem = made.next.leaf_key_pem, .ca_pem = made.next.ca_pem, .dns_names = kNames});
  ASSERT_TRUE(ca.ok() && leaf.ok());
  EXPECT_TRUE(ca->is_ca && ca->key_fits);
  EXPECT_TRUE(leaf->key_fits && leaf->signed_by_ca && leaf->names_fit);
  EXPECT_FALSE(leaf->is_ca);
  EXPECT_EQ(leaf->not_after.us, after(90 * kDay).us);
}

TEST(CertificatePlan, TellsTheWebhooksNext) {
  CertificateView view = settled();
  view.trusted = false;
  EXPECT_EQ(plan(view, kNow).step, CertificateStep::trust);
}

TEST(CertificatePlan, LeavesAloneWhatIsInOrder) {
  EXPECT_EQ(plan(settled(), after(59 * kDay)).step, CertificateStep::nothing);
}

TEST(CertificatePlan, RenewsTheLeafAtTwoThirdsOfItsLifeUnderTheSameCa) {
  const CertificateView view = settled();

  const CertificatePlan renewed = plan(view, after(61 * kDay));

  EXPECT_EQ(renewed.step, CertificateStep::store);
  EXPECT_EQ(renewed.next.ca_pem, view.kept->ca_pem);
  EXPECT_NE(renewed.next.leaf_pem, view.kept->leaf_pem);
}

TEST(CertificatePlan, RotatesTheCaWithoutAMomentInWhichAShownLeafIsNotTrusted) {
  // Given a CA near two thirds of its life and a leaf made since
  CertificateView view = settled();
  view.kept = plan(view, after(486 * kDay)).next;
  ASSERT_EQ(plan(view, after(486 * kDay)).step, CertificateStep::nothing);
  const KeptCertificate old = *view.kept;
  const WallTime now = after(487 * kDay);
  std::string told = old.ca_pem;  // what the API servers trust
  // When the CA is due: first it joins the bundle, and the leaf stays
  CertificatePlan next = plan(view, now);
  ASSERT_EQ(next.step, CertificateStep::store);
  EXPECT_EQ(next.next.leaf_pem, old.leaf_pem);
  EXPECT_EQ(split_bundle(next.next.ca_pem).size(), 2U);
  EXPECT_TRUE(taken(next.next.leaf_pem, told, now));
  view.kept = next.next;
  // then the webhooks are told both
  view.trusted = false;
  next = plan(view, now);
  ASSERT_EQ(next.step, CertificateStep::trust);
  told = next.next.ca_pem;
  EXPECT_TRUE(taken(view.kept->leaf_pem, told, now));
  view.trusted = true;
  // then nothing, until every API server knows
  view.trusted_for = 59s;
  EXPECT_EQ(plan(view, now).step, CertificateStep::nothing);
  view.trusted_for = 60s;
  next = plan(view, now);
  // Then a leaf of the new CA, while one of the old is still taken
  ASSERT_EQ(next.step, CertificateStep::store);
  EXPECT_NE(next.next.leaf_pem, old.leaf_pem);
  EXPECT_TRUE(examine(next.next.leaf_pem, {.ca_pem = next.next.ca_pem})->signed_by_ca);
  EXPECT_TRUE(taken(next.next.leaf_pem, told, now));
  EXPECT_TRUE(taken(old.leaf_pem, told, now));
  view.kept = next.next;
  EXPECT_EQ(plan(view, now).step, CertificateStep::nothing);
}

TEST(CertificatePlan, DropsAnOldCaWhenItHasEnded) {
  CertificateView view = settled();
  view.kept = plan(view, after(487 * kDay)).next;  // a new CA beside the old
  view.kept = plan(view, after(731 * kDay)).next;  // a leaf of the new one
  ASSERT_EQ(split_bundle(view.kept->ca_pem).size(), 2U);

  const CertificatePlan next = plan(view, after(731 * kDay));

  EXPECT_EQ(next.step, CertificateStep::store);
  EXPECT_EQ(split_bundle(next.next.ca_pem).size(), 1U);
}

TEST(CertificatePlan, KeepsAWorkingLeafWhenOnlyTheCaKeyWasLost) {
  CertificateView view = settled();
  view.kept->ca_key_pem = "lost";

  const CertificatePlan next = plan(view, kNow);

  EXPECT_EQ(next.step, CertificateStep::store);
  EXPECT_EQ(next.next.leaf_pem, view.kept->leaf_pem);
  EXPECT_TRUE(taken(next.next.leaf_pem, next.next.ca_pem, kNow));
  EXPECT_EQ(split_bundle(next.next.ca_pem).size(), 2U);
}

struct Wrong {
  const char* what;
  void (*spoil)(CertificateView&);
};
class CertificatePlanWrong : public ::testing::TestWithParam<Wrong> {};

TEST_P(CertificatePlanWrong, MakesAnewWhatCannotBeUsed) {
  CertificateView view = settled();
  GetParam().spoil(view);

  const CertificatePlan next = plan(view, kNow);

  ASSERT_EQ(next.step, CertificateStep::store);
  EXPECT_NE(next.next.leaf_pem, view.kept->leaf_pem);
  EXPECT_TRUE(taken(next.next.leaf_pem, next.next.ca_pem, kNow, view.dns_names));
  EXPECT_TRUE(examine(next.next.leaf_pem, {.key_pem = next.next.leaf_key_pem})->key_fits);
  view.kept = next.next;
  EXPECT_EQ(plan(view, kNow).step, CertificateStep::nothing);
}

INSTANTIATE_TEST_SUITE_P(
    Contents, CertificatePlanWrong,
    ::testing::Values(
        Wrong{"empty", [](CertificateView& v) { v.kept = KeptCertificate{}; }},
        Wrong{"garbage", [](CertificateView& v) { v.kept->leaf_pem = "garbage"; }},
        Wrong{"foreign_key",
              [](CertificateView& v) { v.kept->leaf_key_pem = settled().kept->leaf_key_pem; }},
        Wrong{"foreign_leaf",
              [](CertificateView& v) {
                const CertificateView other = settled();
                v.kept->leaf_pem = other.kept->leaf_pem;
                v.kept->leaf_key_pem = other.kept->leaf_key_pem;
              }},
        Wrong{"other_names", [](CertificateView& v) { v.dns_names = {"renamed.cronlatch.svc"}; }}),
    [](const auto& wrong) { return wrong.param.what; });

}  // namespace
}  // namespace cronlatch::op
