// SPDX-License-Identifier: Apache-2.0
// SecretCopier: copies the platform's Secret with the credentials of the store into the namespaces
// of the settings, and no others. It writes only changes, and does not touch a Secret of that name
// that another client created. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "admission/settings.h"
#include "base/last_error.h"
#include "base/log.h"
#include "kube/api.h"

namespace cronlatch::op {

class SecretCopier {
 public:
  SecretCopier(const Settings& settings, kube::Api& api, const Clock& clock, const Log& log);
  bool is_enabled() const;
  // Reads the source and writes the copies that are due. False after an error.
  bool copy(const std::function<bool()>& may_write);

 private:
  struct Copied {
    std::string content;
    TimePoint at;
  };
  bool copy_to(const std::string& namespace_name, const kube::Json& source,
               const std::string& content);
  bool fail(const std::string& namespace_name, const std::string& what);

  const Settings& settings_;
  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  std::map<std::string, Copied> copied_;          // by namespace
  std::map<std::string, LastError> last_errors_;  // by namespace
};

}  // namespace cronlatch::op
