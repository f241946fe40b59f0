// SPDX-License-Identifier: Apache-2.0
// SecretCopier: copies the platform's Secret with the credentials of the store into the namespaces
// of the settings, and no others (secret_writer.h). One thread.
#pragma once

#include <functional>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"
#include "operator/reconcile/secret_writer.h"

namespace cronlatch::op {

class SecretCopier {
 public:
  SecretCopier(const Settings& settings, kube::Api& api, const Clock& clock, const Log& log);
  bool is_enabled() const;
  // Reads the source and writes the copies that are due. False after an error.
  bool copy(const std::function<bool()>& may_write);

 private:
  const Settings& settings_;
  kube::Api& api_;
  SecretWriter writer_;
};

}  // namespace cronlatch::op
