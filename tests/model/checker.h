// SPDX-License-Identifier: Apache-2.0
// Checker: the rules that hold in every schedule. Its input is true time, the lifetimes of process
// trees, and the store's records. It shares no code with the product and computes no leases.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "store/rules.h"

namespace cronlatch::model {

class Checker {
 public:
  // The process tree of a command under `lock` starts (at true time `us`), and ends.
  void tree_starts(const std::string& lock, int run, std::int64_t us);
  void tree_ends(const std::string& lock, int run);
  // The store has lost its data: runs may overlap after this (A1 does not hold), but fences must
  // still rise.
  void store_lost_data() { exclusive_ = false; }

  // One request was executed. `late_by_us` is the time since its sender gave up, less the permitted
  // error of the clocks; it is negative when the request was in time.
  void executed(const Request& request, const rules::Record& before, const rules::Record& after,
                std::int64_t late_by_us);
  // The store has answered Granted: fences rise in the order of grants, and a claim that is retried
  // gets the same fence.
  void granted(const std::string& lock, const Claim& claim, Fence fence);
  void check_counters(const rules::Record& record);
  void finished_twice() { report("exactly one Finish"); }
  void held_after_end(int run) {
    report("L2: the lease of run " + std::to_string(run) +
           " lasted more than one lease after its end");
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
