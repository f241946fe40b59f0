// SPDX-License-Identifier: Apache-2.0
#include "operator/http/routes.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace cronlatch::op {
namespace {

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// "application/json; charset=utf-8" is application/json.
std::string_view media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return type;
}

bool accepts(const HttpRoute& route, std::string_view method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

HttpResponse answer(const std::vector<HttpRoute>& routes, const HttpRequest& request) {
  std::string allowed;
  for (const HttpRoute& route : routes) {
    if (route.path != request.path) continue;
    if (!accepts(route, request.method)) {
      if (!allowed.empty()) allowed += ", ";
      allowed += route.method;
      if (route.method == "GET") allowed += ", HEAD";
      continue;
    }
    if (!route.content_type.empty() &&
        !same_ignoring_case(media_type(request.content_type), route.content_type)) {
      return {.status = 415,
              .body = "required content type: " + std::string(route.content_type) + "\n"};
    }
    return route.answer(request);
  }
  if (allowed.empty()) return {.status = 404, .body = "unknown path\n"};
  return {.status = 405, .body = "allowed methods: " + allowed + "\n", .allow = allowed};
}

}  // namespace

HttpHandler dispatch(std::vector<HttpRoute> routes) {
  return
      [routes = std::move(routes)](const HttpRequest& request) { return answer(routes, request); };
}

}  // namespace cronlatch::op
