// SPDX-License-Identifier: Apache-2.0
// Writes with the resourceVersion that was read: of two leaders only one can write.
#include "operator/tls/certificate_keeper.h"

#include "base/base64.h"
#include "kube/secrets.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

constexpr int kMaxSteps = 4;
// The time for the leader to create the first certificate.
constexpr Seconds kFirstCertificateDelay{15};

std::string secret_name(const Installation& installation) {
  return installation.name + "-webhook-tls";
}

std::string configuration_path(const Installation& installation) {
  return "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/" + installation.name;
}

std::vector<std::string> dns_names(const Installation& installation) {
  const std::string service = installation.name + "-webhook." + installation.namespace_name;
  return {service + ".svc", service + ".svc.cluster.local", service};
}

StoredCertificate stored_in(const Json& secret) {
  return {kube::secret_value(secret, "ca.crt"), kube::secret_value(secret, "ca.key"),
          kube::secret_value(secret, "tls.crt"), kube::secret_value(secret, "tls.key")};
}

bool trusts(const Json& configuration, const std::string& bundle) {
  for (const Json& hook : kube::items_at(configuration, {"webhooks"}))
    if (string_at(hook, {"clientConfig", "caBundle"}) != encode_base64(bundle)) return false;
  return true;
}

Error rejected(const std::string& what, const kube::Response& response) {
  return {Code::unreachable, what + ": " + response.error_text()};
}

}  // namespace

CertificateKeeper::CertificateKeeper(Installation installation, kube::Api& api, const Clock& clock,
                                     const Log& log, OnCertificate on_certificate)
    : installation_(std::move(installation)),
      api_(api),
      clock_(clock),
      log_(log),
      on_certificate_(std::move(on_certificate)) {}

bool CertificateKeeper::fail(const Error& error) {
  if (last_error_.set(error.message))
    log_({Level::warn, "certificate_trouble", error.message, {}, error.hint});
  return false;
}

// Nothing for a missing object.
Result<std::optional<Json>> CertificateKeeper::read(const std::string& path) {
  auto answer = api_.call({.path = path});
  if (!answer) return answer.error();
  if (answer->status == 404) return std::optional<Json>();
  if (!answer->ok()) return rejected("cannot read " + path, *answer);
  return std::optional<Json>(std::move(answer->body));
}

bool CertificateKeeper::load() {
  const auto secret =
      read(kube::secret_path(installation_.namespace_name, secret_name(installation_)));
  if (!secret) return fail(secret.error()) || current_.has_value();
  const StoredCertificate stored = *secret ? stored_in(**secret) : StoredCertificate{};
  if (stored.leaf_pem.empty()) return create_first();  // the chart creates an empty Secret
  auto certificate = parse_certificate(stored.leaf_pem, stored.leaf_key_pem, stored.ca_pem);
  if (!certificate) return fail(certificate.error()) || current_.has_value();
  if (current_ == *certificate) return true;
  current_ = *certificate;
  on_certificate_(*current_);
  return true;
}

// During an update the leader may be an old replica that does not manage certificates. It is not
// replaced before this replica is ready, which requires a certificate. If two replicas create one,
// the first write succeeds.
bool CertificateKeeper::create_first() {
  if (current_) return true;
  if (!waiting_since_) waiting_since_ = clock_.now();
  if (clock_.now() - *waiting_since_ >= kFirstCertificateDelay) keep([] { return true; });
  return false;  // found by the next load()
}

// Without a stored certificate, that of this replica without the key of its CA: the plan then adds
// a new CA to the bundle, and the replicas serve the old certificate until all clients trust it.
std::optional<StoredCertificate> CertificateKeeper::last_known(
    const std::optional<Json>& secret) const {
  if (secret)
    if (auto stored = stored_in(*secret); stored != StoredCertificate{}) return stored;
  if (!current_) return std::nullopt;
  return StoredCertificate{.ca_pem = current_->ca_pem,
                           .ca_key_pem = {},
                           .leaf_pem = current_->chain_pem,
                           .leaf_key_pem = current_->key_pem};
}

Status CertificateKeeper::store(const std::optional<Json>& secret, const StoredCertificate& next) {
  const std::string name = secret_name(installation_);
  Json body = secret ? *secret : Json::object();
  body["apiVersion"] = "v1";
  body["kind"] = "Secret";
  body["metadata"]["name"] = name;
  body["metadata"]["namespace"] = installation_.namespace_name;
  body["metadata"].erase("managedFields");
  // The type is immutable. That of the chart, whose next upgrade would otherwise fail.
  if (!secret) body["type"] = "Opaque";
  body["data"] = {{"ca.crt", encode_base64(next.ca_pem)},
                  {"ca.key", encode_base64(next.ca_key_pem)},
                  {"tls.crt", encode_base64(next.leaf_pem)},
                  {"tls.key", encode_base64(next.leaf_key_pem)}};
  std::string path = kube::secret_path(installation_.namespace_name, name);
  if (!secret) path.resize(path.rfind('/'));
  const auto answer = api_.call({.method = secret ? kube::Method::replace : kube::Method::create,
                                 .path = path,
                                 .query = {{"fieldManager", std::string(kFieldManager)}},
                                 .body = std::move(body)});
  if (!answer) return answer.error();
  // 409: another replica was faster; the next step reads its result.
  if (!answer->ok() && answer->status != 409)
    return rejected("cannot write Secret " + name, *answer);
  return Done{};
}

Status CertificateKeeper::trust(const Json& configuration, const std::string& bundle) {
  Json patch = Json::array();
  const auto& hooks = kube::items_at(configuration, {"webhooks"});
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    const std::string at = "/webhooks/" + std::to_string(i);
    patch.push_back(
        {{"op", "test"}, {"path", at + "/name"}, {"value", string_at(hooks[i], {"name"})}});
    patch.push_back(
        {{"op", "add"}, {"path", at + "/clientConfig/caBundle"}, {"value", encode_base64(bundle)}});
  }
  const auto answer = api_.call({.method = kube::Method::patch,
                                 .path = configuration_path(installation_),
                                 .query = {{"fieldManager", std::string(kFieldManager)}},
                                 .body = std::move(patch),
                                 .patch_type = kube::PatchType::json});
  if (!answer) return answer.error();
  if (!answer->ok()) return rejected("cannot set caBundle of the webhooks", *answer);
  return Done{};
}

void CertificateKeeper::observe_trust(bool trusted, const std::string& bundle) {
  if (!trusted || bundle != trusted_bundle_) trusted_since_.reset();
  trusted_bundle_ = bundle;
  if (trusted && !trusted_since_) trusted_since_ = clock_.now();
}

Result<bool> CertificateKeeper::step(const std::function<bool()>& may_write) {
  const auto secret =
      read(kube::secret_path(installation_.namespace_name, secret_name(installation_)));
  if (!secret) return secret.error();
  const auto configuration = read(configuration_path(installation_));
  if (!configuration) return configuration.error();
  CertificateView view{.stored = last_known(*secret), .dns_names = dns_names(installation_)};
  // Without a configuration (an installation without webhooks) nothing has to trust the bundle.
  const std::string bundle = view.stored ? view.stored->ca_pem : "";
  view.trusted = !*configuration || trusts(**configuration, bundle);
  observe_trust(view.trusted, bundle);
  if (trusted_since_) view.trusted_for = clock_.now() - *trusted_since_;
  const auto plan = plan_certificate(view, clock_.wall());
  if (!plan) return plan.error();
  if (plan->step == CertificateStep::nothing) return true;
  if (!may_write()) return true;
  log_({Level::info, "certificate", plan->why, {}});
  const Status done = plan->step == CertificateStep::store
                          ? store(*secret, plan->next)
                          : trust(**configuration, plan->next.ca_pem);
  if (!done) return done.error();
  return false;
}

bool CertificateKeeper::keep(const std::function<bool()>& may_write) {
  for (int i = 0; i < kMaxSteps; ++i) {
    const auto finished = step(may_write);
    if (!finished) return fail(finished.error());
    if (*finished) {
      last_error_.clear();
      return true;
    }
  }
  return false;
}

}  // namespace cronlatch::op
