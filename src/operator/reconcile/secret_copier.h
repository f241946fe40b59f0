// SPDX-License-Identifier: Apache-2.0
// SecretCopier: the platform's Secret with the store's credentials, copied into the namespaces that
// the settings name, and into no other. Only what changed is written; a Secret that somebody else
// made under that name is left alone. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"

namespace cronlatch::op {

class SecretCopier {
 public:
  SecretCopier(const Settings& settings, kube::Api& api, const Clock& clock, const Log& log);
  bool wanted() const;
  // One look at the source and at what is due. False when something could not be done.
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
  std::map<std::string, Copied> copied_;         // by namespace
  std::map<std::string, std::string> troubles_;  // by namespace, as last said
};

}  // namespace cronlatch::op
