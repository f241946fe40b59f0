// SPDX-License-Identifier: Apache-2.0
// FaultTrial: one run of the real program against a real Redis behind a FaultProxy, and a rival
// past the proxy that is granted the lock next. What must hold afterwards is in fault_oracle.cc and
// fault_events.cc.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fault_case.h"
#include "gated.h"
#include "support/fault_proxy.h"

namespace cronlatch::testing {

std::string option_of(std::chrono::milliseconds time);

class FaultTrial {
 public:
  // Starts the run, with keys and files of its own. `number` differs from that of other trials.
  FaultTrial(const RedisServer& redis, const FaultCase& c, int number,
             const std::shared_ptr<SSL_CTX>& tls, const std::string& ca);
  void judge();

 private:
  using Hash = std::map<std::string, std::string>;
  Fault fault() const;
  Words run_words(const std::string& url, const std::string& on_busy,
                  const std::string& outcome) const;
  Words argv() const;
  // A run of the same lock that does not pass the proxy.
  std::unique_ptr<Program> rival(const std::string& on_busy) const;
  void close_for(std::chrono::milliseconds time);
  bool holds_while_it_runs() const;
  void judge_outcome(int code) const;
  void judge_lifetimes() const;
  void judge_record(long rivals);
  void judge_runs(const Hash& stats, long others) const;
  void judge_done_mark();
  void judge_events(int exit_code) const;
  void judge_events_of_rival() const;
  std::int64_t fence_of(const std::string& outcome) const;
  Hash hash_at(const std::string& key);

  FaultCase case_;
  RedisClient redis_;
  std::string redis_url_;  // past the proxy
  std::string ca_;
  std::string prefix_;
  ScratchDir dir_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Program> rival_;
  std::chrono::steady_clock::time_point closed_until_{};  // by an earlier run
};

}  // namespace cronlatch::testing
