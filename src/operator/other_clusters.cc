// SPDX-License-Identifier: Apache-2.0
#include "operator/other_clusters.h"

#include "labels/holder.h"

namespace cronlatch::op {
namespace {

constexpr std::size_t kMaxClusters = 20;

}  // namespace

std::set<std::string> other_clusters(const std::vector<LockView>& locks, std::string_view own) {
  std::set<std::string> others;
  const auto add = [&](const Identity& identity) {
    const std::string_view name = cluster_of(identity.holder);
    if (!name.empty() && name != own && others.size() < kMaxClusters) others.emplace(name);
  };
  for (const LockView& lock : locks) {
    add(lock.identity);
    for (const GrantView& grant : lock.grants) add(grant.identity);
  }
  return others;
}

void OtherClustersNotice::update(const std::vector<LockView>& locks, std::string_view own) {
  if (own.empty()) return;  // a run of this cluster cannot be distinguished
  for (const std::string& name : other_clusters(locks, own)) {
    if (seen_.size() >= kMaxClusters || !seen_.insert(name).second) continue;
    log_({Level::info,
          "other_cluster",
          "cluster " + name + " uses the same store and key prefix as this cluster, " +
              std::string(own) + ": they share locks with the same name",
          {{"cluster", name}},
          "if this is not intended, set the chart value separateClusters"});
  }
}

}  // namespace cronlatch::op
