// SPDX-License-Identifier: Apache-2.0
#include "plugin/page_service.h"

#include "labels/status_token.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// An annotation is text of any user who may create a Service: only a name becomes an argument.
bool is_account_name(const std::string& text) {
  return !text.empty() && text.size() <= 253 && text.front() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

}  // namespace

std::string PageService::proxy_path() const {
  return "/api/v1/namespaces/" + namespace_name + "/services/" +
         (requires_token() ? "https:" : "http:") + name + ':' + port + "/proxy/status";
}

std::optional<PageService> parse_place(const std::string& place) {
  const std::size_t slash = place.find('/');
  if (slash == std::string::npos) return std::nullopt;
  PageService service{.namespace_name = place.substr(0, slash), .name = place.substr(slash + 1)};
  if (const std::size_t colon = service.name.find(':'); colon != std::string::npos) {
    service.port = service.name.substr(colon + 1);
    service.name.resize(colon);
  }
  return service;
}

PageService page_service(const Json& service) {
  PageService page{.namespace_name = kube::string_at(service, {"metadata", "namespace"}),
                   .name = kube::string_at(service, {"metadata", "name"})};
  const auto& ports = kube::items_at(service, {"spec", "ports"});
  if (!ports.empty())
    if (const auto number = kube::number_at(ports.front(), {"port"}))
      page.port = std::to_string(*number);
  std::string account =
      kube::string_at(service, {"metadata", "annotations", kStatusAccountAnnotation});
  if (is_account_name(account)) page.account = std::move(account);
  return page;
}

std::vector<std::string> token_arguments(const PageService& service) {
  return {"create",
          "token",
          service.account,
          "-n",
          service.namespace_name,
          "--audience=" + std::string(kStatusAudience),
          "--duration=10m"};
}

std::vector<std::string> post_arguments(const PageService& service) {
  return {"create", "--raw", service.proxy_path(), "-f", "-"};
}

}  // namespace cronlatch::plugin
