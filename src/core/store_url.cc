// SPDX-License-Identifier: Apache-2.0
#include "core/store_url.h"

#include <algorithm>

#include "base/host_port.h"

namespace cronlatch {
namespace {

// The spelling of a host name that all its spellings share.
std::string host_in_lower_case(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  for (char& c : host)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return host;
}

}  // namespace

std::string StoreHost::name() const {
  return host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
}

std::string StoreHost::where() const { return show_host_port(host, port); }

bool StoreHost::is_same_server(const StoreHost& other) const {
  return host_in_lower_case(host) == host_in_lower_case(other.host) && port == other.port;
}

std::string StoreUrl::name() const { return StoreHost{host, port}.name(); }

std::string StoreUrl::where() const { return StoreHost{host, port}.where(); }

std::string StoreUrl::endpoint() const {
  if (transport == StoreTransport::local) return directory;
  if (layout == StoreLayout::single) return where();
  std::string list;
  for (const StoreHost& each : hosts) list += (list.empty() ? "" : ",") + each.where();
  return master.empty() ? list : list + '/' + master;
}

std::string store_identity(const StoreUrl& url, std::string_view key_prefix) {
  const std::string scheme = std::string(url.scheme) + "://";
  if (url.transport == StoreTransport::local) {
    std::string directory = url.directory;
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    return scheme + directory;
  }
  if (url.postgres) {
    PostgresTarget target = *url.postgres;
    target.sslmode = SslMode::verify_full;
    target.wake = WakeMode::listen;
    for (PostgresTarget::Host& host : target.hosts) host.host = host_in_lower_case(host.host);
    return scheme + show_postgres_target(target) + ' ' + std::string(key_prefix);
  }
  std::vector<std::string> servers;
  for (const StoreHost& host :
       url.hosts.empty() ? std::vector<StoreHost>{{url.host, url.port}} : url.hosts)
    servers.push_back(host_in_lower_case(host.host) + ' ' + std::to_string(host.port) + ' ');
  std::sort(servers.begin(), servers.end());
  std::string identity = scheme;
  for (const std::string& server : servers) identity += server;
  if (!url.master.empty()) identity += url.master + ' ';
  return identity + std::to_string(url.db) + ' ' + std::string(key_prefix);
}

}  // namespace cronlatch
