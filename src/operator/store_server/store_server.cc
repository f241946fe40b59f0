// SPDX-License-Identifier: Apache-2.0
// The order makes a rotation safe: the server accepts a new password, and every namespace has a new
// CA, before a run can depend on it.
#include "operator/store_server/store_server.h"

#include "core/store_url.h"
#include "kube/secrets.h"
#include "labels/names.h"
#include "options/options.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr int kMaxSteps = 4;
// The kubelets of running pods need longer for a new CA than the API servers of a webhook.
constexpr Seconds kKubeletDelay{600};

std::string key_prefix(const Settings& settings) {
  const auto given = settings.defaults.find("key-prefix");
  return given == settings.defaults.end() ? Options().key_prefix : given->second;
}

std::optional<ServerLink> link_to(const std::string& url) {
  auto parsed = parse_store_url(url);
  if (!parsed) return std::nullopt;
  return ServerLink(std::move(*parsed));
}

}  // namespace

StoreServer::StoreServer(const Settings& settings, kube::Api& api, const Clock& clock,
                         const Log& log)
    : settings_(settings),
      api_(api),
      clock_(clock),
      log_(log),
      link_(settings.store_server ? link_to(settings.store) : std::nullopt),
      writer_(settings, api, clock, log) {}

bool StoreServer::fail(const Error& error) {
  if (last_error_.set(error.message))
    log_({Level::warn, "store_server_trouble", error.message, {}, error.hint});
  return false;
}

UserScope StoreServer::scope(const NamespaceUids& namespaces) const {
  UserScope scope{key_prefix(settings_), {}, settings_.cluster_lock_namespaces};
  for (const auto& [name, uid] : namespaces) scope.namespaces.push_back(name);
  return scope;
}

Result<StoreServerState> StoreServer::next_state(const StoreServerState& state) const {
  StoreServerState next = state;
  auto seeds = plan_seeds(state.seeds, clock_.wall());
  if (!seeds) return seeds.error();
  next.seeds = std::move(*seeds);
  const std::string name = parse_store_url(settings_.store)->name();
  for (int i = 0; i < kMaxSteps; ++i) {
    CertificateView view{.stored = next.certificate,
                         .trusted = true,
                         .trusted_for = {},
                         .dns_names = {name},
                         .purpose = "cronlatch redis"};
    if (published_since_ && next.certificate && next.certificate->ca_pem == published_bundle_)
      view.trusted_for = clock_.now() - *published_since_ - kKubeletDelay;
    auto plan = plan_certificate(view, clock_.wall());
    if (!plan) return plan.error();
    if (plan->step == CertificateStep::nothing) break;
    log_({Level::info, "store_certificate", plan->why, {}});
    next.certificate = std::move(plan->next);
  }
  return next;
}

Result<std::optional<StoreServerState>> StoreServer::keep_state(
    const NamespaceUids& namespaces, const std::function<bool()>& may_write) {
  const std::string path = kube::secret_path(settings_.namespace_name, secret_name());
  const auto found = api_.call({.path = path});
  if (!found) return found.error();
  if (found->status == 404)
    return Error{Code::config, "the Secret " + secret_name() + " does not exist",
                 "run helm upgrade, which creates it"};
  if (!found->ok())
    return Error{Code::unreachable, "cannot read " + path + ": " + found->error_text()};
  auto state = next_state(server_state(found->body));
  if (!state) return state.error();
  Json data = server_data(*state, server_users(scope(namespaces), state->seeds));
  const Json* const stored = kube::find(found->body, {"data"});
  if (stored != nullptr && *stored == data) return std::optional(std::move(*state));
  if (!may_write()) return std::optional<StoreServerState>();
  Json body = found->body;
  body["data"] = std::move(data);
  body["metadata"].erase("managedFields");
  // With the resourceVersion that was read: of two leaders only one can write.
  const auto answer = api_.call({.method = kube::Method::replace,
                                 .path = path,
                                 .query = {{"fieldManager", std::string(kFieldManager)}},
                                 .body = std::move(body)});
  if (!answer) return answer.error();
  if (!answer->ok())
    return Error{Code::unreachable,
                 "cannot write Secret " + secret_name() + ": " + answer->error_text()};
  return std::optional(std::move(*state));
}

void StoreServer::observe_published(const std::string& bundle, bool all) {
  if (!all || bundle != published_bundle_) published_since_.reset();
  published_bundle_ = all ? bundle : "";
  if (all && !published_since_) published_since_ = clock_.now();
}

bool StoreServer::publish(const StoreServerState& state, const NamespaceUids& namespaces,
                          const std::function<bool()>& may_write) {
  bool all = true;
  for (const auto& [name, uid] : namespaces)
    if (!writer_.write({name, uid}, {secret_name(), "Opaque", namespace_data(state, name)},
                       may_write))
      all = false;
  all = all && may_write();
  observe_published(state.certificate->ca_pem, all);
  return all;
}

bool StoreServer::maintain(const std::function<bool()>& may_write) {
  const auto namespaces = store_namespaces(settings_, api_);
  if (!namespaces) return fail(namespaces.error());
  const auto state = keep_state(*namespaces, may_write);
  if (!state) return fail(state.error());
  if (!*state || !link_) return false;
  const ServerSetup setup{server_users(scope(*namespaces), (*state)->seeds), key_prefix(settings_)};
  if (const Status applied = link_->apply(**state, setup, clock_.now()); !applied)
    return fail(applied.error());
  if (last_error_.clear())
    log_({Level::info, "store_server", "the server of the store has its users", {}});
  return publish(**state, *namespaces, may_write);
}

}  // namespace cronlatch::op
