// SPDX-License-Identifier: Apache-2.0
// SecretWriter: writes the Secret `store-secret` of a namespace, with the credentials of its runs.
// It does not touch a Secret of that name that another client created. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "admission/settings.h"
#include "base/last_error.h"
#include "base/log.h"
#include "kube/api.h"

namespace cronlatch::op {

class SecretWriter {
 public:
  struct Content {
    std::string source;  // the Secret of the operator's namespace that it was derived from
    std::string type;
    kube::Json data;  // its member `data`; null: none
  };
  SecretWriter(const Settings& settings, kube::Api& api, const Clock& clock, const Log& log);
  struct Namespace {
    std::string name;
    std::string uid;  // "": not known
  };
  // Writes the Secret if that is due and `may_write` returns true: after a change of the content or
  // of the UID, and again every ten minutes. Without a UID again every minute, because the
  // namespace may have been created again. False after an error, which is logged once.
  bool write(const Namespace& target, const Content& content,
             const std::function<bool()>& may_write);
  // Logs an error of this namespace, once; returns false.
  bool fail(const std::string& namespace_name, const std::string& source, const std::string& what);

 private:
  struct Written {
    std::string uid, content;
    TimePoint at;
  };
  bool apply(const std::string& namespace_name, const Content& content);

  const Settings& settings_;
  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  std::map<std::string, Written> written_;        // by namespace
  std::map<std::string, LastError> last_errors_;  // by namespace
};

}  // namespace cronlatch::op
