// SPDX-License-Identifier: Apache-2.0
// Rule: one guarantee of docs/guarantees.md, judged from facts. Each rule has a file of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/rules/facts.h"

namespace cronlatch::model {

// The present time, shared by all rules of a schedule.
struct Moment {
  Us now = 0;
  std::size_t slots = 1;      // of every run
  Us server_elapsed = 0;      // by the store's clock, without its backward steps
  Us data_lost = kNever;      // the store lost data at this time
  bool stepped_back = false;  // the store's clock stepped back in this schedule
};

class Rule {
 public:
  virtual ~Rule() = default;
  virtual void executed(const Execution&) {}
  virtual void sent(const RunFacts&, const Request&) {}
  // Before the run handles the reply.
  virtual void received(const RunFacts&, const Reply&) {}
  // The wrapper sends a signal to the tree. `forwarded`: the user's signal.
  virtual void signaled(const RunFacts&, int /*signo*/, bool /*forwarded*/) {}
  // The wrapper has handled a signal from outside.
  virtual void signal_handled(const RunFacts&, int /*signo*/, bool /*forwarded*/) {}
  virtual void tree_started(const RunFacts&) {}
  virtual void tree_ended(const RunFacts&) {}
  // The wrapper has handled the exit of the main process, or the end of the tree.
  virtual void exit_handled(const RunFacts&) {}
  virtual void finished(const RunFacts&) {}
  virtual void lock_revoked() {}
  virtual void clock_stepped(Us /*by*/) {}
  virtual void logged_in(const RunFacts&, const Login&) {}
  virtual void data_lost() {}

  using Sink = std::function<void(std::string)>;
  void attach(const Moment* moment, const Sink* sink) { moment_ = moment, sink_ = sink; }

 protected:
  const Moment& moment() const { return *moment_; }
  Us now() const { return moment_->now; }
  bool lost_data() const { return moment_->data_lost != kNever; }
  void report(const RunFacts& run, const std::string& what) {
    (*sink_)("run " + std::to_string(run.id) + ": " + what);
  }

 private:
  const Moment* moment_ = nullptr;
  const Sink* sink_ = nullptr;
};

// A rule per file; the prefix of a report is the name of the guarantee.
std::unique_ptr<Rule> exclusion_rule();
std::unique_ptr<Rule> fence_rule();
std::unique_ptr<Rule> owner_rule();
std::unique_ptr<Rule> counter_rule();
std::unique_ptr<Rule> release_rule();
std::unique_ptr<Rule> takeover_rule();
std::unique_ptr<Rule> queue_rule();
std::unique_ptr<Rule> restore_rule();
std::unique_ptr<Rule> min_hold_rule();
std::unique_ptr<Rule> group_rule();
std::unique_ptr<Rule> once_rule();
std::unique_ptr<Rule> window_rule();
std::unique_ptr<Rule> lease_end_rule();
std::unique_ptr<Rule> on_lost_rule();
std::unique_ptr<Rule> max_run_rule();
std::unique_ptr<Rule> guardian_rule();
std::unique_ptr<Rule> exit_code_rule();
std::unique_ptr<Rule> credentials_rule();
std::vector<std::unique_ptr<Rule>> all_rules();

}  // namespace cronlatch::model
