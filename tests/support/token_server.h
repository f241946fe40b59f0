// SPDX-License-Identifier: Apache-2.0
// TokenServer: the realm of a registry whose logins are tokens, over HTTPS. Whoever comes without a
// login may pull what lies below public/; one login, or one identity token, may do everything. Its
// tokens are real: signed with a key that the tests' authority vouches for.
#pragma once

#include <string>

#include "support/certificates.h"
#include "support/https_server.h"

namespace cronlatch::testing {

class TokenServer {
 public:
  static constexpr char kService[] = "registry-of-tests";
  static constexpr char kIssuer[] = "issuer-of-tests";
  static constexpr char kIdentityToken[] = "who-cron-is";  // in place of user and password

  explicit TokenServer(const Certificates& certificates);

  std::string name() const { return "registry.test:" + std::to_string(server_.port()); }
  std::string realm() const { return "https://" + name() + "/token"; }
  int connections() const { return server_.connections(); }

 private:
  const CertFiles key_;
  HttpsServer server_;
};

}  // namespace cronlatch::testing
