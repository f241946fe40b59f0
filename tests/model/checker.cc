// SPDX-License-Identifier: Apache-2.0
#include "model/checker.h"

namespace cronlatch::model {
namespace {

bool same_lease(const rules::Record& a, const rules::Record& b) {
  return a.claim == b.claim && a.fence == b.fence && a.state == b.state && a.acquired == b.acquired;
}

const std::string& owner_of(const Request& request) {
  return std::visit([](const auto& r) -> const std::string& { return r.claim.owner; }, request);
}

}  // namespace

void Checker::tree_starts(const std::string& lock, int run, std::int64_t us) {
  std::set<int>& alive = alive_[lock];
  if (exclusive_ && !alive.empty())
    report("S1: run " + std::to_string(run) + " starts on " + lock + " at " + std::to_string(us) +
           " us while run " + std::to_string(*alive.begin()) + " is alive");
  alive.insert(run);
}

void Checker::granted(const std::string& lock, const Claim& claim, Fence fence) {
  const auto [at, is_new] = of_claim_.try_emplace({claim.owner, claim.attempt}, fence);
  Fence& highest = highest_[lock];
  if (is_new && fence <= highest)
    report("S2: fence " + std::to_string(fence) + " after " + std::to_string(highest));
  // A store that lost the grant may give the claim a new grant with a higher fence.
  if (!is_new && (exclusive_ ? fence != at->second : fence < at->second))
    report("S4: a claim was granted twice");
  at->second = fence;
  highest = std::max(highest, fence);
}

void Checker::tree_ends(const std::string& lock, int run) { alive_[lock].erase(run); }

void Checker::executed(const Request& request, const rules::Record& before,
                       const rules::Record& after, std::int64_t late_by_us) {
  if (late_by_us > 0 && !(before == after))
    report("G5: executed after its sender gave up, and changed the record");
  const bool mine = before.claim.owner == owner_of(request);
  // After a loss of data the holder of a newer grant may replace an older record.
  const bool newer =
      !exclusive_ && std::holds_alternative<Renew>(request) && after.fence > before.fence;
  const bool lease =
      before.state == rules::HoldState::held || before.state == rules::HoldState::revoked;
  if (!std::holds_alternative<Acquire>(request) && lease && !mine && !newer &&
      !same_lease(before, after))
    report("S3: a request of another owner changed the lease");
  check_counters(after);
}

void Checker::check_counters(const rules::Record& record) {
  for (const auto& [job, counters] : record.jobs) {
    const bool open = record.state == rules::HoldState::held && record.identity.job == job;
    const std::int64_t closed =
        counters.get("released") + counters.get("stolen") + counters.get("revoked");
    if (counters.get("acquired") != closed + (open ? 1 : 0))
      report("C1: acquired " + std::to_string(counters.get("acquired")) + ", closed " +
             std::to_string(closed) + (open ? ", open 1" : ", open 0"));
  }
}

}  // namespace cronlatch::model
