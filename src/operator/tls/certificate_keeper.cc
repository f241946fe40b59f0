// SPDX-License-Identifier: Apache-2.0
// Reads, asks for the plan, writes with the version that was read: of two leaders only one writes.
#include "operator/tls/certificate_keeper.h"

#include "admission/job_view.h"
#include "base/base64.h"
#include "kube/secrets.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

constexpr int kMostSteps = 4;
// A leader that makes certificates has made one by then.
constexpr Seconds kLeaderless{15};

std::string secret_name(const Settings& settings) { return settings.name + "-webhook-tls"; }

std::string configuration_path(const Settings& settings) {
  return "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/" + settings.name;
}

std::vector<std::string> dns_names(const Settings& settings) {
  const std::string service = settings.name + "-webhook." + settings.namespace_name;
  return {service + ".svc", service + ".svc.cluster.local", service};
}

KeptCertificate kept_in(const Json& secret) {
  return {kube::secret_value(secret, "ca.crt"), kube::secret_value(secret, "ca.key"),
          kube::secret_value(secret, "tls.crt"), kube::secret_value(secret, "tls.key")};
}

bool trusts(const Json& configuration, const std::string& bundle) {
  for (const Json& hook : kube::items_at(configuration, {"webhooks"}))
    if (string_at(hook, {"clientConfig", "caBundle"}) != encode_base64(bundle)) return false;
  return true;
}

Error refused(const std::string& what, const kube::Response& response) {
  return {Code::unreachable,
          what + ": " + std::to_string(response.status) + " " + response.message()};
}

}  // namespace

CertificateKeeper::CertificateKeeper(const Settings& settings, kube::Api& api, const Clock& clock,
                                     const Log& log, Use use)
    : settings_(settings), api_(api), clock_(clock), log_(log), use_(std::move(use)) {}

bool CertificateKeeper::fail(const Error& error) {
  if (error.message != last_trouble_)
    log_({Level::warn, "certificate_trouble", error.message, {}, error.hint});
  last_trouble_ = error.message;
  return false;
}

// Nothing: there is no such object.
Result<std::optional<Json>> CertificateKeeper::read(const std::string& path) {
  auto answer = api_.call({.path = path});
  if (!answer) return answer.error();
  if (answer->status == 404) return std::optional<Json>();
  if (!answer->ok()) return refused("cannot read " + path, *answer);
  return std::optional<Json>(std::move(answer->body));
}

bool CertificateKeeper::load() {
  const auto secret = read(kube::secret_path(settings_.namespace_name, secret_name(settings_)));
  if (!secret) return fail(secret.error()) || shown_.has_value();
  const KeptCertificate kept = *secret ? kept_in(**secret) : KeptCertificate{};
  if (kept.leaf_pem.empty()) return make_first();  // the chart brings the Secret empty
  auto certificate = make_certificate(kept.leaf_pem, kept.leaf_key_pem, kept.ca_pem);
  if (!certificate) return fail(certificate.error()) || shown_.has_value();
  if (shown_ == *certificate) return true;
  shown_ = *certificate;
  use_(*shown_);
  return true;
}

// The leader may be a replica of before, whose certificate was another's business; it leaves only
// when we are ready, and we are not before there is one. Two who make one: the first write counts.
bool CertificateKeeper::make_first() {
  if (shown_) return true;
  if (!waiting_since_) waiting_since_ = clock_.now();
  if (clock_.now() - *waiting_since_ >= kLeaderless) keep([] { return true; });
  return false;  // the next look finds it
}

Status CertificateKeeper::store(const std::optional<Json>& secret, const KeptCertificate& next) {
  const std::string name = secret_name(settings_);
  Json body = secret ? *secret : Json::object();
  body["apiVersion"] = "v1";
  body["kind"] = "Secret";
  body["metadata"]["name"] = name;
  body["metadata"]["namespace"] = settings_.namespace_name;
  body["metadata"].erase("managedFields");
  if (!secret) body["type"] = "kubernetes.io/tls";
  body["data"] = {{"ca.crt", encode_base64(next.ca_pem)},
                  {"ca.key", encode_base64(next.ca_key_pem)},
                  {"tls.crt", encode_base64(next.leaf_pem)},
                  {"tls.key", encode_base64(next.leaf_key_pem)}};
  std::string path = kube::secret_path(settings_.namespace_name, name);
  if (!secret) path.resize(path.rfind('/'));
  const auto answer = api_.call({.method = secret ? kube::Method::replace : kube::Method::create,
                                 .path = path,
                                 .query = {{"fieldManager", "cronlatch"}},
                                 .body = std::move(body)});
  if (!answer) return answer.error();
  // 409: somebody was quicker; the next look tells with what.
  if (!answer->ok() && answer->status != 409)
    return refused("cannot write Secret " + name, *answer);
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
                                 .path = configuration_path(settings_),
                                 .query = {{"fieldManager", "cronlatch"}},
                                 .body = std::move(patch),
                                 .patch_type = kube::PatchType::json});
  if (!answer) return answer.error();
  if (!answer->ok()) return refused("cannot tell the webhooks whom to trust", *answer);
  return Done{};
}

void CertificateKeeper::observe_trust(bool trusted, const std::string& bundle) {
  if (!trusted || bundle != trusted_bundle_) trusted_since_.reset();
  trusted_bundle_ = bundle;
  if (trusted && !trusted_since_) trusted_since_ = clock_.now();
}

Result<bool> CertificateKeeper::step(const std::function<bool()>& may_write) {
  const auto secret = read(kube::secret_path(settings_.namespace_name, secret_name(settings_)));
  if (!secret) return secret.error();
  const auto configuration = read(configuration_path(settings_));
  if (!configuration) return configuration.error();
  CertificateView view{.kept = {}, .dns_names = dns_names(settings_)};
  if (*secret) view.kept = kept_in(**secret);
  // Where there is no configuration, nobody must be told: an installation without webhooks.
  const std::string bundle = view.kept ? view.kept->ca_pem : "";
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
  for (int i = 0; i < kMostSteps; ++i) {
    const auto finished = step(may_write);
    if (!finished) return fail(finished.error());
    if (*finished) {
      last_trouble_.clear();
      return true;
    }
  }
  return false;
}

}  // namespace cronlatch::op
