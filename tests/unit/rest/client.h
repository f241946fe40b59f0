// SPDX-License-Identifier: Apache-2.0
// A client of a server with the faults of networks and API servers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "rest/rest_api.h"
#include "support/certificates.h"
#include "support/https_server.h"

namespace cronlatch::testing {

inline const Certificates& certificates() {
  static const Certificates made;
  return made;
}

inline std::unique_ptr<kube::RestApi> client_of(
    const HttpsServer& server, const std::function<void(kube::ClusterAccess&)>& change = {}) {
  kube::ClusterAccess access{.server = server.url(), .ca_file = certificates().ca()};
  if (change) change(access);
  auto api = kube::RestApi::open(std::move(access));
  EXPECT_TRUE(api.ok());
  return std::move(*api);
}

}  // namespace cronlatch::testing
