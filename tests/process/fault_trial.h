// SPDX-License-Identifier: Apache-2.0
// FaultTrial: one run of the real program against a real Redis behind a FaultProxy, and what must
// hold after it after each fault: the exit code, the outcome file, the record and the counters
// agree with what the command did. Redis is read with raw commands.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "gated.h"
#include "support/fault_proxy.h"

namespace cronlatch::testing {

inline constexpr int kOwnCode = 7;
inline constexpr int kStoreDown = 69;
inline constexpr int kTryLater = 75;
inline constexpr int kLost = 79;

inline constexpr FaultKind kFaultKinds[] = {FaultKind::reply_lost,  FaultKind::reply_closed,
                                            FaultKind::reply_cut,   FaultKind::reply_duplicated,
                                            FaultKind::reply_late,  FaultKind::request_lost,
                                            FaultKind::request_late};

// No answer comes, and nothing shows that none will come.
bool is_silent(FaultKind kind);
bool is_before_start(RedisVerb verb);
std::string option_of(std::chrono::milliseconds time);
// How many requests of each verb are struck in turn: 3, or 6 in a long run.
int up_to_k();

struct FaultCase {
  RedisVerb verb = RedisVerb::acquire;
  FaultKind kind = FaultKind::reply_lost;
  std::set<int> numbers{1};
  int exit_code = kOwnCode;
  bool waits = false;  // the lock is closed at first, so that the run asks several times
  std::string on_store_down = "fail";
  std::chrono::milliseconds connect_timeout{4'000};
  std::string once{};       // run identity
  int own_code = kOwnCode;  // of the command
  bool ungated = false;     // the command runs without the lock
  std::string name() const;
};

class FaultTrial {
 public:
  // Starts the run, with keys and files of its own.
  FaultTrial(const RedisServer& redis, const FaultCase& c, int number);
  void judge();

  static constexpr int kEvery = 100;  // in `numbers`: more than any run has

 private:
  using Hash = std::map<std::string, std::string>;
  Fault fault() const;
  Words argv() const;
  void close_for(std::chrono::milliseconds time) const;
  void judge_outcome(int code) const;
  void judge_record();
  void judge_counters(const Hash& stats);
  Hash hash_at(const std::string& key);

  FaultCase case_;
  RedisClient redis_;
  std::string redis_url_;  // past the proxy
  std::string prefix_;
  ScratchDir dir_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Program> program_;
};

}  // namespace cronlatch::testing
