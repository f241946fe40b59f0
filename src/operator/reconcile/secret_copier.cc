// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/secret_copier.h"

#include "kube/secrets.h"

namespace cronlatch::op {

using kube::Json;

SecretCopier::SecretCopier(const Settings& settings, kube::Api& api, const Clock& clock,
                           const Log& log)
    : settings_(settings), api_(api), writer_(settings, api, clock, log) {}

bool SecretCopier::is_enabled() const {
  return !settings_.copy_secret_source.empty() && !settings_.copy_secret_namespaces.empty();
}

bool SecretCopier::copy(const std::function<bool()>& may_write) {
  const std::string& own = settings_.namespace_name;
  const std::string& name = settings_.copy_secret_source;
  const auto source = api_.call({.path = kube::secret_path(own, name)});
  if (!source) return writer_.fail(own, name, source.error().message);
  if (!source->ok()) return writer_.fail(own, name, source->error_text());
  const Json* data = kube::find(source->body, {"data"});
  const SecretWriter::Content content{name, kube::string_at(source->body, {"type"}),
                                      data == nullptr ? Json() : *data};
  bool all = true;
  for (const std::string& target : settings_.copy_secret_namespaces) {
    if (target == own && settings_.store_secret == name) continue;
    if (!writer_.write({target, ""}, content, may_write)) all = false;
  }
  return all;
}

}  // namespace cronlatch::op
