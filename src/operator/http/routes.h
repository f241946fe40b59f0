// SPDX-License-Identifier: Apache-2.0
// Routes: the handler for each path, and the responses for all other requests: 404, 405 with Allow,
// 415. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/http/http_server.h"

namespace cronlatch::op {

struct HttpRoute {
  std::string_view method;        // GET includes HEAD
  std::string_view path;          // exact match
  std::string_view content_type;  // required, without parameters; "": any
  HttpHandler answer;
};

HttpHandler dispatch(std::vector<HttpRoute> routes);

}  // namespace cronlatch::op
