// SPDX-License-Identifier: Apache-2.0
// Server-side apply without force: the API server returns 409 if another client owns the fields.
#include "operator/reconcile/secret_copier.h"

#include "kube/secrets.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

constexpr Seconds kRewriteInterval{600};  // restores copies that were deleted or changed

}  // namespace

SecretCopier::SecretCopier(const Settings& settings, kube::Api& api, const Clock& clock,
                           const Log& log)
    : settings_(settings), api_(api), clock_(clock), log_(log) {}

bool SecretCopier::is_enabled() const {
  return !settings_.copy_secret_source.empty() && !settings_.copy_secret_namespaces.empty();
}

bool SecretCopier::fail(const std::string& namespace_name, const std::string& what) {
  if (last_errors_[namespace_name].set(what))
    log_({Level::warn,
          "secret_not_copied",
          "cannot copy Secret " + settings_.copy_secret_source + ": " + what,
          {{"namespace", namespace_name}}});
  return false;
}

bool SecretCopier::copy_to(const std::string& namespace_name, const Json& source,
                           const std::string& content) {
  const std::string& name = settings_.store_secret;
  Json body{{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata",
             {{"name", name},
              {"namespace", namespace_name},
              {"annotations",
               {{kCopiedFromAnnotation,
                 settings_.namespace_name + "/" + settings_.copy_secret_source}}}}},
            {"type", string_at(source, {"type"})}};
  if (const Json* data = kube::find(source, {"data"})) body["data"] = *data;
  const auto answer = api_.call({.method = kube::Method::patch,
                                 .path = kube::secret_path(namespace_name, name),
                                 .query = {{"fieldManager", std::string(kFieldManager)}},
                                 .body = std::move(body),
                                 .patch_type = kube::PatchType::apply});
  if (!answer) return fail(namespace_name, answer.error().message);
  if (!answer->ok()) return fail(namespace_name, answer->error_text());
  copied_[namespace_name] = {content, clock_.now()};
  last_errors_.erase(namespace_name);
  return true;
}

bool SecretCopier::copy(const std::function<bool()>& may_write) {
  const std::string& own = settings_.namespace_name;
  const auto source = api_.call({.path = kube::secret_path(own, settings_.copy_secret_source)});
  if (!source) return fail(own, source.error().message);
  if (!source->ok()) return fail(own, source->error_text());
  const Json* data = kube::find(source->body, {"data"});
  const std::string content = data == nullptr ? "" : kube::to_text(*data);
  bool all = true;
  for (const std::string& target : settings_.copy_secret_namespaces) {
    if (target == own && settings_.store_secret == settings_.copy_secret_source) continue;
    const auto before = copied_.find(target);
    const bool is_current = before != copied_.end() && before->second.content == content &&
                            clock_.now() - before->second.at < kRewriteInterval;
    if (is_current || !may_write()) continue;
    if (!copy_to(target, source->body, content)) all = false;
  }
  return all;
}

}  // namespace cronlatch::op
