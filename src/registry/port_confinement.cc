// SPDX-License-Identifier: Apache-2.0
// System calls and constants from Documentation/userspace-api/landlock.rst: glibc has no wrappers,
// and the headers of Debian 12 define only some of the constants.
#include "registry/port_confinement.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

namespace cronlatch::registry {
namespace {

constexpr long kCreateRulesetVersion = 1;
constexpr long kFirstAbiWithPorts = 4;
constexpr std::uint64_t kConnectTcp = 1U << 1U;
constexpr int kRuleNetPort = 2;

struct Ruleset {
  std::uint64_t handled_files = 0;
  std::uint64_t handled_ports = kConnectTcp;
};
struct PortRule {
  std::uint64_t allowed = kConnectTcp;
  std::uint64_t port = 0;
};

}  // namespace

bool confine_thread_to_ports(const std::vector<std::uint16_t>& ports) {
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion) <
      kFirstAbiWithPorts)
    return false;
  const Ruleset ruleset;
  const Fd rules(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0)));
  if (!rules) return false;
  for (const std::uint16_t port : ports) {
    const PortRule rule{.port = port};
    if (::syscall(SYS_landlock_add_rule, rules.get(), kRuleNetPort, &rule, 0) != 0) return false;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
}

}  // namespace cronlatch::registry
