// SPDX-License-Identifier: Apache-2.0
// StoreServer: manages the Redis that the chart installs (setting `store-server`). The leader
// creates its certificate and its passwords in one Secret, gives the server one user for each
// namespace, and writes the credentials of each namespace into the Secret `store-secret` there. All
// of it is safe to repeat. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "admission/settings.h"
#include "base/last_error.h"
#include "base/log.h"
#include "kube/api.h"
#include "operator/reconcile/secret_writer.h"
#include "operator/store_server/server_link.h"
#include "operator/store_server/server_secret.h"
#include "operator/store_server/store_namespaces.h"

namespace cronlatch::op {

class StoreServer {
 public:
  // All references must outlive the object.
  StoreServer(const Settings& settings, kube::Api& api, const Clock& clock, const Log& log);
  bool is_enabled() const { return settings_.store_server; }
  // Executes what is due. False after an error: call it again soon. `may_write` is called before
  // every write to the API server. Blocks for some seconds while the server does not answer.
  bool maintain(const std::function<bool()>& may_write);

 private:
  std::string secret_name() const { return settings_.name + "-redis"; }
  UserScope scope(const NamespaceUids& namespaces) const;
  Result<StoreServerState> next_state(const StoreServerState& state) const;
  // The state that the Secret has now; nothing: it was not written.
  Result<std::optional<StoreServerState>> keep_state(const NamespaceUids& namespaces,
                                                     const std::function<bool()>& may_write);
  bool publish(const StoreServerState& state, const NamespaceUids& namespaces,
               const std::function<bool()>& may_write);
  void observe_published(const std::string& bundle, bool all);
  bool fail(const Error& error);

  const Settings& settings_;
  kube::Api& api_;
  const Clock& clock_;
  const Log& log_;
  std::optional<ServerLink> link_;
  SecretWriter writer_;
  LastError last_error_;
  std::string published_bundle_;  // in the Secrets of all namespaces
  std::optional<TimePoint> published_since_;
};

}  // namespace cronlatch::op
