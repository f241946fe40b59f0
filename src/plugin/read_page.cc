// SPDX-License-Identifier: Apache-2.0
#include "plugin/read_page.h"

#include <utility>

#include "base/json_object.h"
#include "base/text.h"
#include "plugin/kubectl_json.h"
#include "plugin/objects.h"

namespace cronlatch::plugin {

void set_status_page(const KubectlResult& answer, Cluster& cluster) {
  if (!answer.ok()) {
    cluster.page_error = error_line(answer);
    return;
  }
  Result<StatusPage> page = read_status_page(answer.out);
  if (page)
    cluster.status_page = std::move(page).value();
  else
    cluster.page_error = page.error().message;
}

std::vector<PageService> services_of(const KubectlResult& answer) {
  std::vector<PageService> services;
  if (!answer.ok()) return services;
  const auto found = parse_list(answer, "Services");
  if (!found) return services;
  for (const kube::Json& item : items_of(*found)) services.push_back(page_service(item));
  if (PageService one = page_service(*found); services.empty() && !one.name.empty())
    services.push_back(std::move(one));
  return services;
}

Status read_page_of(const PageService& service, const Context& context, Cluster& cluster) {
  if (!service.requires_token()) {
    const auto page = run_one(context.kubectl, captured({"get", "--raw", service.proxy_path()}));
    if (!page) return page.error();
    set_status_page(*page, cluster);
    return Done{};
  }
  const auto token = run_one(context.kubectl, captured(token_arguments(service)));
  if (!token) return token.error();
  if (!token->ok()) {
    cluster.page_error = "the status page requires a token of ServiceAccount " +
                         service.namespace_name + '/' + service.account + ": " + error_line(*token);
    return Done{};
  }
  const std::string body = JsonObject().text("token", std::string(trimmed(token->out))).str();
  const auto page = run_one(context.kubectl, captured(post_arguments(service), body));
  if (!page) return page.error();
  set_status_page(*page, cluster);
  return Done{};
}

}  // namespace cronlatch::plugin
