// SPDX-License-Identifier: Apache-2.0
// PageService: the Service of the operator's status page, and how its page is requested through the
// API server's service proxy. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::plugin {

struct PageService {
  std::string namespace_name, name;
  std::string port = "8080";  // a number or a name
  // The ServiceAccount whose token reads the page (chart value metrics.auth: token); "": the page
  // requires no token.
  std::string account{};

  std::string place() const { return namespace_name + '/' + name + ':' + port; }
  bool requires_token() const { return !account.empty(); }
  // "/api/v1/namespaces/.../proxy/status"; over TLS if the page requires a token.
  std::string proxy_path() const;
};

// From "NAMESPACE/SERVICE[:PORT]"; nothing for another text.
std::optional<PageService> parse_place(const std::string& place);
// From a Service.
PageService page_service(const kube::Json& service);

// ---- arguments of kubectl ----

// Prints a token of the account for the status page, which is no login at the API server. 10 m is
// the shortest lifetime that the API server issues.
std::vector<std::string> token_arguments(const PageService& service);
// Sends standard input to the page.
std::vector<std::string> post_arguments(const PageService& service);

}  // namespace cronlatch::plugin
