// SPDX-License-Identifier: Apache-2.0
// Routes: which function answers which path, and the answers for everything else: 404, 405 with
// Allow, 415. Pure; knows neither sockets nor what the paths mean.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/http/http_server.h"

namespace cronlatch::op {

struct Route {
  std::string_view method;        // GET answers HEAD as well
  std::string_view path;          // exact
  std::string_view content_type;  // that a body must have, without parameters; "": none is asked
  HttpHandler answer;
};

HttpHandler dispatch(std::vector<Route> routes);

}  // namespace cronlatch::op
