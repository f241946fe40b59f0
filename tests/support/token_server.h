// SPDX-License-Identifier: Apache-2.0
// TokenServer: the token server of a registry, over HTTPS. A client without a login may pull
// repositories below public/; one login, or one identity token, has all rights. The tokens are
// signed with a key whose certificate the tests' CA has issued.
#pragma once

#include <string>

#include "support/certificates.h"
#include "support/https_server.h"

namespace cronlatch::testing {

class TokenServer {
 public:
  static constexpr char kService[] = "registry-of-tests";
  static constexpr char kIssuer[] = "issuer-of-tests";
  static constexpr char kIdentityToken[] = "who-cron-is";  // instead of user and password

  explicit TokenServer(const Certificates& certificates);

  std::string name() const { return "registry.test:" + std::to_string(server_.port()); }
  std::string realm() const { return "https://" + name() + "/token"; }
  int connections() const { return server_.connections(); }

 private:
  const CertFiles key_;
  HttpsServer server_;
};

}  // namespace cronlatch::testing
