// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/confined_access.h"

#include <vector>

#include "registry/port_confinement.h"

namespace cronlatch::op {
namespace {

image::RegistryPolicy policy_of(const Settings& settings) {
  std::vector<image::ListedRegistry> listed;
  for (const std::string& line :
       settings.lookup_registries)  // validated when the settings were read
    if (auto one = image::parse_listed_registry(line)) listed.push_back(std::move(*one));
  return image::RegistryPolicy(std::move(listed));
}

// skopeo connects to a registry on a loopback address directly, without the proxy.
std::vector<std::uint16_t> ports_of(const image::RegistryPolicy& policy, std::uint16_t proxy) {
  std::vector<std::uint16_t> ports = {proxy};
  for (const image::ListedRegistry& one : policy.listed())
    if (one.peer.host == "localhost" || one.peer.host == "::1" || one.peer.host.starts_with("127."))
      ports.push_back(one.peer.port);
  return ports;
}

}  // namespace

ConfinedAccess::ConfinedAccess(const Settings& settings, const Clock& clock, const Log& log)
    : settings_(settings), clock_(clock), log_(log), policy_(policy_of(settings)) {}

Status ConfinedAccess::start(const std::string& scratch, const std::string& system_cas,
                             std::optional<registry::UpstreamProxy> upstream) {
  proxy_.emplace(policy_, registry::ProxyLimits{}, clock_, log_, std::move(upstream));
  if (Status started = proxy_->start(); !started) return started;
  skopeo_.emplace(registry::SkopeoConfig{.program = settings_.lookup_program,
                                         .ca_file = settings_.lookup_ca_file,
                                         .system_cas = system_cas,
                                         .temp_dir = scratch},
                  policy_, *proxy_, clock_, [this] { confine(); });
  head_.emplace(settings_.lookup_ca_file, policy_, *proxy_, clock_);
  access_.emplace(*head_, *skopeo_);
  return Done{};
}

void ConfinedAccess::confine() {
  if (registry::confine_thread_to_ports(ports_of(policy_, proxy_->port())) ||
      warned_.exchange(true))
    return;
  log_({Level::warn,
        "lookup_not_confined",
        "this kernel cannot deny skopeo the access to the loopback address of this pod",
        {},
        "use Linux 6.7 or newer with Landlock"});
}

}  // namespace cronlatch::op
