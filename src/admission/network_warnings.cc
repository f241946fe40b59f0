// SPDX-License-Identifier: Apache-2.0
#include "admission/network_warnings.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/store_url.h"

namespace cronlatch::op {
namespace {

// A name that only the cluster's DNS resolves, and no address.
bool is_service_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.find(':') != std::string_view::npos) return false;
  return host.find('.') == std::string_view::npos || host.ends_with(".svc") ||
         host.ends_with(".svc.cluster.local") || std::count(host.begin(), host.end(), '.') == 1;
}

std::vector<std::string> hosts_of(const StoreUrl& store) {
  std::vector<std::string> hosts;
  if (store.postgres)
    for (const PostgresTarget::Host& each : store.postgres->hosts) hosts.push_back(each.host);
  for (const StoreHost& each : store.hosts) hosts.push_back(each.host);
  return hosts.empty() ? std::vector{store.host} : hosts;
}

// The first host of the store that only the cluster's DNS resolves.
std::optional<std::string> service_name(const Settings& settings) {
  const Result<StoreUrl> store = parse_store_url(settings.store);
  if (!store) return std::nullopt;
  const std::vector<std::string> hosts = hosts_of(*store);
  const auto found = std::find_if(hosts.begin(), hosts.end(), is_service_name);
  return found == hosts.end() ? std::nullopt : std::optional(*found);
}

// Why the pod does not use the cluster's DNS.
struct OtherDns {
  const char* field;
  const char* what;
  const char* fix;
};

std::optional<OtherDns> other_dns(const JobView& job) {
  if (job.dns_policy == "Default")
    return OtherDns{"dnsPolicy", "with Default a pod", "set dnsPolicy: ClusterFirst"};
  if (job.dns_policy == "None")
    return OtherDns{"dnsPolicy", "with None a pod without the cluster's DNS in dnsConfig",
                    "set dnsPolicy: ClusterFirst, or list the cluster's DNS in dnsConfig"};
  if (job.host_network && (job.dns_policy.empty() || job.dns_policy == "ClusterFirst"))
    return OtherDns{"hostNetwork", "a pod on the host's network",
                    "set dnsPolicy: ClusterFirstWithHostNet"};
  return std::nullopt;
}

}  // namespace

void add_network_warnings(const JobView& job, const Settings& settings,
                          std::vector<Finding>& warnings) {
  const std::optional<OtherDns> dns = other_dns(job);
  if (!dns) return;
  if (const std::optional<std::string> host = service_name(settings))
    warnings.push_back({job.pod_path(dns->field),
                        std::string(dns->what) + " cannot resolve the store's host", dns->fix,
                        printable(*host, 253)});
}

}  // namespace cronlatch::op
