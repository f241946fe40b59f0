// SPDX-License-Identifier: Apache-2.0
// Other clusters whose runs use the same store and key prefix. Locks with the same name are then
// shared: on purpose, or because two clusters were given the same settings by mistake.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "core/lock_stats.h"

namespace cronlatch::op {

// The names in the holders of these locks, without `own`. At most 20: a store has few clusters, and
// every user with its password can write a holder.
std::set<std::string> other_clusters(const std::vector<LockView>& locks, std::string_view own);

// Logs each of them once. One thread.
class OtherClustersNotice {
 public:
  explicit OtherClustersNotice(const Log& log) : log_(log) {}
  void update(const std::vector<LockView>& locks, std::string_view own);

 private:
  const Log& log_;
  std::set<std::string> seen_;
};

}  // namespace cronlatch::op
