// SPDX-License-Identifier: Apache-2.0
// Each step is derived from the stored state alone, so that a new leader can continue a rotation.
#include "operator/tls/certificate_plan.h"

namespace cronlatch::op {
namespace {

constexpr std::size_t kMaxCas = 3;  // bounds the bundle

bool needs_renewal(const CertFacts& facts, WallTime now) {
  const std::int64_t life = facts.not_after.us - facts.not_before.us;
  return now.us < facts.not_before.us || now.us >= facts.not_before.us + life / 3 * 2;
}

bool is_expired(const std::string& cert_pem, WallTime now) {
  const auto facts = inspect(cert_pem, {});
  return !facts || now >= facts->not_after;
}

bool ca_usable(const StoredCertificate& stored, WallTime now) {
  const auto facts = inspect(stored.ca_pem, {.key_pem = stored.ca_key_pem});
  return facts && facts->is_ca && facts->key_matches && !needs_renewal(*facts, now);
}

// Valid, not expired, with all names, and signed by a CA of the bundle.
bool leaf_usable(const StoredCertificate& stored, const CertificateView& view, WallTime now) {
  if (signer_in(stored.ca_pem, stored.leaf_pem).empty()) return false;
  const auto facts =
      inspect(stored.leaf_pem, {.key_pem = stored.leaf_key_pem, .dns_names = view.dns_names});
  return facts && facts->key_matches && facts->names_match && now < facts->not_after;
}

Result<CertificatePlan> plan_leaf(StoredCertificate next, const CertificateView& view, WallTime now,
                                  std::string why) {
  auto leaf = issue_leaf({next.ca_pem, next.ca_key_pem}, view.dns_names, now, view.purpose);
  if (!leaf) return leaf.error();
  next.leaf_pem = std::move(leaf->cert_pem);
  next.leaf_key_pem = std::move(leaf->key_pem);
  return CertificatePlan{CertificateStep::store, std::move(next), std::move(why)};
}

// The new CA first, then the old CAs until they expire.
Result<CertificatePlan> plan_ca(const CertificateView& view, WallTime now) {
  auto ca = issue_ca(now, view.purpose);
  if (!ca) return ca.error();
  StoredCertificate next{.ca_pem = std::move(ca->cert_pem),
                         .ca_key_pem = std::move(ca->key_pem),
                         .leaf_pem = {},
                         .leaf_key_pem = {}};
  if (!view.stored) return plan_leaf(std::move(next), view, now, "there is no certificate");
  std::size_t count = 1;
  for (const std::string& old : split_bundle(view.stored->ca_pem))
    if (count < kMaxCas && !is_expired(old, now)) {
      next.ca_pem += old;
      ++count;
    }
  next.leaf_pem = view.stored->leaf_pem;
  next.leaf_key_pem = view.stored->leaf_key_pem;
  if (!leaf_usable(next, view, now))
    return plan_leaf(std::move(next), view, now, "the stored certificate is not usable");
  return CertificatePlan{CertificateStep::store, std::move(next), "the CA is renewed"};
}

// The bundle without expired CAs; the first CA is always kept.
std::string pruned(const std::string& bundle, WallTime now) {
  std::string out;
  for (const std::string& ca : split_bundle(bundle))
    if (out.empty() || !is_expired(ca, now)) out += ca;
  return out;
}

}  // namespace

Result<CertificatePlan> plan_certificate(const CertificateView& view, WallTime now) {
  if (!view.stored || !ca_usable(*view.stored, now)) return plan_ca(view, now);
  const StoredCertificate& stored = *view.stored;
  if (!leaf_usable(stored, view, now))
    return plan_leaf(stored, view, now, "the serving certificate is not usable");
  if (!view.trusted)
    return CertificatePlan{CertificateStep::trust, stored, "the webhooks do not trust the bundle"};
  const auto leaf = inspect(stored.leaf_pem, {.ca_pem = stored.ca_pem});
  const bool signed_by_old_ca = !leaf || !leaf->signed_by_ca;
  if (signed_by_old_ca && view.trusted_for >= kBundlePropagation)
    return plan_leaf(stored, view, now, "the CA was renewed");
  if (!signed_by_old_ca && needs_renewal(*leaf, now))
    return plan_leaf(stored, view, now, "the serving certificate is renewed");
  if (const std::string bundle = pruned(stored.ca_pem, now); bundle != stored.ca_pem) {
    StoredCertificate next = stored;
    next.ca_pem = bundle;
    return CertificatePlan{CertificateStep::store, std::move(next), "an old CA has expired"};
  }
  return CertificatePlan{};
}

}  // namespace cronlatch::op
