// SPDX-License-Identifier: Apache-2.0
// PullLogins: the logins for a registry, from the imagePullSecrets of a Job or of its
// ServiceAccount and from the platform's docker config. They are read at each lookup, because they
// change.
#pragma once

#include <string>
#include <vector>

#include "admission/settings.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/api.h"
#include "registry/logins.h"
#include "registry/lookup.h"

namespace cronlatch::op {

// The names in imagePullSecrets of a pod's spec, at most 16. Invalid names are skipped. Without
// any, "serviceaccount/NAME": Kubernetes then uses the imagePullSecrets of the ServiceAccount.
std::vector<std::string> pull_secrets(const kube::Json& pod_spec);

// Thread rule: any method from any thread.
class PullLogins {
 public:
  // `api` is nullptr outside of a cluster. All references must outlive the object.
  PullLogins(const Settings& settings, kube::Api* api, const Log& log)
      : settings_(settings), api_(api), log_(log) {}

  // Whether the settings permit to read pull secrets in this namespace.
  bool may_read_secrets_of(const std::string& namespace_name) const;
  // The logins of the Job's Secrets first, then those of the platform. The Secrets are read only if
  // the API server has the CronJob of the request, with this image and these Secrets: an admission
  // review alone is no proof.
  std::vector<registry::RegistryLogin> find(const registry::LookupRequest& question) const;

 private:
  Status confirm(const registry::LookupRequest& question) const;
  Result<std::vector<std::string>> secret_names(const registry::LookupRequest& question) const;
  Result<std::string> read_secret(const std::string& namespace_name, const std::string& name) const;

  const Settings& settings_;
  kube::Api* const api_;
  const Log& log_;
};

}  // namespace cronlatch::op
