// SPDX-License-Identifier: Apache-2.0
// The checkpoint: {"before":1763690000,"gone":["shop/old"],"pods":{"0a1b2c3d-4e5f":1763690100},
// "in_force":{"gating":1763600000,"rules":"d41d8cd98f00b204e980","select":1763600000}}
#include "operator/reconcile/reported_pods.h"

#include <algorithm>

#include "kube/json.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr std::size_t kUidLength = 18;  // 64 bits of a random UUID
constexpr std::int64_t kMicros = 1'000'000;

std::string shortened(const std::string& uid) { return uid.substr(0, kUidLength); }

}  // namespace

ReportedPods::ReportedPods(std::string_view checkpoint) {
  const auto parsed = kube::parse_json(checkpoint, {.bytes = std::size_t{64} * 1024, .depth = 4});
  if (!parsed) return;
  before_ = kube::number_at(*parsed, {"before"}).value_or(0);
  deleted_ = kube::strings_at(*parsed, {"gone"});
  enforcement_ = {{kube::number_at(*parsed, {"in_force", "gating"}).value_or(0) * kMicros},
                  {kube::number_at(*parsed, {"in_force", "select"}).value_or(0) * kMicros},
                  kube::string_at(*parsed, {"in_force", "rules"})};
  const Json* pods = kube::find(*parsed, {"pods"});
  if (pods == nullptr || !pods->is_object()) return;
  for (const auto& [uid, finished] : pods->items())
    if (finished.is_number_integer()) pods_[uid] = finished.get<std::int64_t>();
}

bool ReportedPods::has(const std::string& uid, WallTime finished) const {
  return finished.us / kMicros < before_ || pods_.contains(shortened(uid));
}

void ReportedPods::add(const std::string& uid, WallTime finished) {
  pods_[shortened(uid)] = finished.us / kMicros;
  while (pods_.size() > kMaxPods) {
    const auto oldest =
        std::min_element(pods_.begin(), pods_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    before_ = std::max(before_, oldest->second + 1);
    pods_.erase(oldest);
  }
}

void ReportedPods::forget(const std::string& uid) { pods_.erase(shortened(uid)); }

bool ReportedPods::cronjob_deleted(const std::string& job) {
  if (std::find(deleted_.begin(), deleted_.end(), job) != deleted_.end()) return false;
  deleted_.push_back(job);
  if (deleted_.size() > kMaxDeleted) deleted_.erase(deleted_.begin());
  return true;
}

bool ReportedPods::cronjob_exists(const std::string& job) { return std::erase(deleted_, job) != 0; }

std::string ReportedPods::checkpoint() const {
  const Json enforcement{{"gating", enforcement_.gating.us / kMicros},
                         {"select", enforcement_.select.us / kMicros},
                         {"rules", enforcement_.rules}};
  return kube::to_text(
      Json{{"before", before_}, {"gone", deleted_}, {"pods", pods_}, {"in_force", enforcement}});
}

}  // namespace cronlatch::op
