// SPDX-License-Identifier: Apache-2.0
#include "operator/status_page.h"

#include "base/json_object.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "core/lock_json.h"
#include "operator/other_clusters.h"

namespace cronlatch::op {
namespace {

std::string servers_json(const std::vector<ServerState>& states) {
  std::vector<std::string> servers;
  for (const ServerState& state : states) {
    JsonObject server;
    server.text("endpoint", state.endpoint).json("up", state.up() ? "true" : "false");
    server.number("latency_us", state.took.count());
    server.text("error", state.up() ? "" : state.error->message);
    servers.push_back(server.str());
  }
  return json_array(servers);
}

}  // namespace

std::string status_page(const StatusFacts& facts, const Exporter::Status& status) {
  std::string locks = "[";
  if (status.copy != nullptr)
    for (const LockView& view : status.copy->read)
      locks.append(locks.size() > 1 ? "," : "").append(lock_json(view));
  std::string others = "[";
  if (status.copy != nullptr && !facts.cluster.empty())
    for (const std::string& name : other_clusters(status.copy->read, facts.cluster))
      others.append(others.size() > 1 ? "," : "").append(json_quoted(name));
  JsonObject store;
  store.text("endpoint", facts.endpoint).json("up", status.up ? "true" : "false");
  store.text_or_null("read", status.copy == nullptr ? "" : rfc3339(status.read));
  store.text("error", facts.endpoint.empty() ? "no store is configured" : status.error);
  store.json("servers", servers_json(status.servers));
  JsonObject page;
  page.number("v", 1).text("time", rfc3339(facts.now)).text("version", facts.version);
  page.text_or_null("cluster", facts.cluster).json("other_clusters", others + ']');
  page.json("leader", facts.leader ? "true" : "false").json("store", store.str());
  return page.json("locks", locks + ']').str() + '\n';
}

}  // namespace cronlatch::op
