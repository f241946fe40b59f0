// SPDX-License-Identifier: Apache-2.0
// ClusterAccess: the address of the API server and the credentials for it. It contains paths, not
// contents: tokens, certificates and CAs are replaced at run time and must be read again at each
// use.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace cronlatch::kube {

struct ClusterAccess {
  std::string server;   // "https://host:port"; the host is a name or an IPv4 address
  std::string ca_file;  // PEM; the only trusted CAs
  // One of: a token in a file, a token, a client certificate, nothing.
  std::string token_file{};
  Secret token{};
  std::string client_cert_file{}, client_key_file{};
};

inline constexpr std::string_view kServiceAccountDir =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// The access every pod has: `host` and `port` are the variables KUBERNETES_SERVICE_HOST and
// KUBERNETES_SERVICE_PORT. An IPv6 host becomes the name kubernetes.default.svc, which is in every
// API server's certificate, because cpprestsdk cannot connect to an IPv6 literal.
Result<ClusterAccess> in_cluster_access(std::string_view host, std::string_view port,
                                        std::string_view dir = kServiceAccountDir);

// An error for an address that cpprestsdk does not support.
Status check_server(std::string_view server);

// Reads a file of at most 4 MiB. The error names the path and the reason.
Result<std::string> read_small_file(const std::string& path);

}  // namespace cronlatch::kube
