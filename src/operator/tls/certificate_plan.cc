// SPDX-License-Identifier: Apache-2.0
// One step at a time, each judged from what is stored: a leader that dies between two leaves
// nothing that the next could not go on from.
#include "operator/tls/certificate_plan.h"

namespace cronlatch::op {
namespace {

constexpr std::size_t kMostCas = 3;  // rotations follow each other slowly; a bundle stays small

bool due(const CertFacts& facts, WallTime now) {
  const std::int64_t life = facts.not_after.us - facts.not_before.us;
  return now.us < facts.not_before.us || now.us >= facts.not_before.us + life / 3 * 2;
}

bool ended(const std::string& cert_pem, WallTime now) {
  const auto facts = examine(cert_pem, {});
  return !facts || now >= facts->not_after;
}

bool ca_usable(const KeptCertificate& kept, WallTime now) {
  const auto facts = examine(kept.ca_pem, {.key_pem = kept.ca_key_pem});
  return facts && facts->is_ca && facts->key_fits && !due(*facts, now);
}

// Readable, in time, for our names, and signed by one of the bundle, whichever.
bool leaf_usable(const KeptCertificate& kept, const CertificateView& view, WallTime now) {
  for (const std::string& ca : split_bundle(kept.ca_pem)) {
    const auto facts = examine(
        kept.leaf_pem, {.key_pem = kept.leaf_key_pem, .ca_pem = ca, .dns_names = view.dns_names});
    if (facts && facts->signed_by_ca)
      return facts->key_fits && facts->names_fit && now < facts->not_after;
  }
  return false;
}

Result<CertificatePlan> fresh_leaf(KeptCertificate next, const CertificateView& view, WallTime now,
                                   std::string why) {
  auto leaf = issue_leaf({next.ca_pem, next.ca_key_pem}, view.dns_names, now);
  if (!leaf) return leaf.error();
  next.leaf_pem = std::move(leaf->cert_pem);
  next.leaf_key_pem = std::move(leaf->key_pem);
  return CertificatePlan{CertificateStep::store, std::move(next), std::move(why)};
}

// The old CAs stay behind the new one, as long as they live.
Result<CertificatePlan> fresh_ca(const CertificateView& view, WallTime now) {
  auto ca = issue_ca(now);
  if (!ca) return ca.error();
  KeptCertificate next{.ca_pem = std::move(ca->cert_pem),
                       .ca_key_pem = std::move(ca->key_pem),
                       .leaf_pem = {},
                       .leaf_key_pem = {}};
  if (!view.kept) return fresh_leaf(std::move(next), view, now, "there was no certificate");
  std::size_t count = 1;
  for (const std::string& old : split_bundle(view.kept->ca_pem))
    if (count < kMostCas && !ended(old, now)) {
      next.ca_pem += old;
      ++count;
    }
  next.leaf_pem = view.kept->leaf_pem;
  next.leaf_key_pem = view.kept->leaf_key_pem;
  if (!leaf_usable(next, view, now))
    return fresh_leaf(std::move(next), view, now, "what was stored cannot be used");
  return CertificatePlan{CertificateStep::store, std::move(next), "the CA is renewed"};
}

// The bundle without CAs that have ended; the first one always stays.
std::string pruned(const std::string& bundle, WallTime now) {
  std::string out;
  for (const std::string& ca : split_bundle(bundle))
    if (out.empty() || !ended(ca, now)) out += ca;
  return out;
}

}  // namespace

Result<CertificatePlan> plan_certificate(const CertificateView& view, WallTime now) {
  if (!view.kept || !ca_usable(*view.kept, now)) return fresh_ca(view, now);
  const KeptCertificate& kept = *view.kept;
  if (!leaf_usable(kept, view, now)) return fresh_leaf(kept, view, now, "the leaf cannot be used");
  if (!view.trusted) return CertificatePlan{CertificateStep::trust, kept, "the webhooks lack it"};
  const auto leaf = examine(kept.leaf_pem, {.ca_pem = kept.ca_pem});
  const bool by_old_ca = !leaf || !leaf->signed_by_ca;
  if (by_old_ca && view.trusted_for >= kSettle)
    return fresh_leaf(kept, view, now, "the CA was renewed");
  if (!by_old_ca && due(*leaf, now)) return fresh_leaf(kept, view, now, "the leaf is renewed");
  if (const std::string bundle = pruned(kept.ca_pem, now); bundle != kept.ca_pem) {
    KeptCertificate next = kept;
    next.ca_pem = bundle;
    return CertificatePlan{CertificateStep::store, std::move(next), "an old CA has ended"};
  }
  return CertificatePlan{};
}

}  // namespace cronlatch::op
