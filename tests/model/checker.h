// SPDX-License-Identifier: Apache-2.0
// Checker: what must hold in every schedule. It sees true time, lifetimes of command trees and the
// store's records, and shares no code with what it judges: it knows neither leases nor renewals.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "store/rules.h"

namespace cronlatch::model {

class Checker {
 public:
  // A command tree of `lock` begins and ends to live, at true time `us`.
  void tree_starts(const std::string& lock, int run, std::int64_t us);
  void tree_ends(const std::string& lock, int run);
  // The store has lost everything: overlaps may happen from now on (A1 is broken), fences must
  // still rise.
  void store_forgot() { exclusive_ = false; }

  // One request was executed. `late_by_us` is how long after its sender gave up (negative: in time)
  // less what clocks may err.
  void executed(const Request& request, const rules::Record& before, const rules::Record& after,
                std::int64_t late_by_us);
  // The store has answered Granted: fences rise in the order of grants, and a claim that asks again
  // gets its own.
  void granted(const std::string& lock, const Claim& claim, Fence fence);
  void law(const rules::Record& record);
  void finished_twice() { report("exactly one Finish"); }
  void held_by_a_dead_run(int run) {
    report("L2: the lease of run " + std::to_string(run) + " outlived it by more than one lease");
  }
  void never_ended(int run) { report("L2: run " + std::to_string(run) + " never ended"); }
  void started_ungranted() { report("S4: started without a grant"); }

  const std::string& violation() const { return violation_; }  // the first one; empty: none

 private:
  void report(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }
  std::string violation_;
  bool exclusive_ = true;
  std::map<std::string, std::set<int>> alive_;
  std::map<std::string, Fence> highest_;
  std::map<std::pair<std::string, std::uint32_t>, Fence> of_claim_;
};

}  // namespace cronlatch::model
