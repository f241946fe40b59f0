// SPDX-License-Identifier: Apache-2.0
#include "operator/store_server/store_namespaces.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kNamespaces[] = "/api/v1/namespaces";

std::string selector_of(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

bool is_terminating(const Json& item) {
  return kube::string_at(item, {"status", "phase"}) == "Terminating";
}

}  // namespace

Result<NamespaceUids> store_namespaces(const Settings& settings, kube::Api& api) {
  NamespaceUids namespaces{{settings.namespace_name, ""}};
  for (const std::string& name : settings.store_server_namespaces) namespaces.emplace(name, "");
  if (!settings.store_server_namespace_labels.empty()) {
    const auto answer = api.call(
        {.path = kNamespaces,
         .query = {{"labelSelector", selector_of(settings.store_server_namespace_labels)}}});
    if (!answer) return answer.error();
    if (!answer->ok())
      return Error{Code::unreachable, "cannot list namespaces: " + answer->error_text()};
    for (const Json& item : kube::items_at(answer->body, {"items"}))
      if (!is_terminating(item))
        namespaces.insert_or_assign(kube::string_at(item, {"metadata", "name"}),
                                    kube::string_at(item, {"metadata", "uid"}));
  }
  return namespaces;
}

}  // namespace cronlatch::op
