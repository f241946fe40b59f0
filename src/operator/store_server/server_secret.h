// SPDX-License-Identifier: Apache-2.0
// The Secret of the store server: everything that the operator created for it. The server mounts
// the certificate and the users, the operator the credentials of its reader. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/json.h"
#include "operator/store_server/passwords.h"
#include "operator/store_server/users.h"
#include "operator/tls/certificate_plan.h"

namespace cronlatch::op {

struct StoreServerState {
  std::optional<StoredCertificate> certificate{};  // nothing: none was created
  PasswordSeeds seeds{};
  bool operator==(const StoreServerState&) const = default;
};

// From the Secret; the chart creates it without data.
StoreServerState server_state(const kube::Json& secret);
// The member `data` of the Secret. The state must be complete.
kube::Json server_data(const StoreServerState& state, const std::vector<ServerUser>& users);
// The member `data` of the Secret that gated pods of the namespace mount.
kube::Json namespace_data(const StoreServerState& state, const std::string& namespace_name);

}  // namespace cronlatch::op
