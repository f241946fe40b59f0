// SPDX-License-Identifier: Apache-2.0
// A lock with a clock that the test sets, decided by the C++ rules or by the Lua scripts on a real
// server. Each test of this folder runs on both.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "store/rules.h"
#include "support/reply.h"

namespace cronlatch::testing {

using namespace std::chrono_literals;

enum class DecidedBy { rules, scripts };

// What a test needs of one implementation. `lock` is the name of the lock.
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual Reply execute(const Request& request, ServerTime now, ServerTime not_after) = 0;
  virtual Revoked revoke(const std::string& lock, ServerTime now) = 0;
  virtual rules::Record record(const std::string& lock) = 0;
  virtual bool is_empty() = 0;  // nothing at all is stored
  // What a store can lose, or find changed after a failover.
  virtual void lose_everything() = 0;
  virtual void lose_grant(const std::string& lock) = 0;  // counters, groups, marks, answers stay
  virtual void lose_groups(const std::string& lock) = 0;
  virtual void add_to_counter(const std::string& lock, const std::string& job,
                              const std::string& name, std::int64_t by) = 0;
  virtual void add_groups(const std::string& lock,
                          const std::map<std::string, std::int64_t>& groups) = 0;
};

std::unique_ptr<Implementation> make_implementation(DecidedBy by);

class Lock {
 public:
  explicit Lock(DecidedBy by) : implementation_(make_implementation(by)) {}

  std::string name = "ns/name";
  ServerTime now{1'763'690'000'000'000};
  Millis ttl{30'000};

  void pass(Micros d) { now = now + d; }

  // Requests of a run whose owner is `owner`, of job ns/<owner> and holder pod-<owner>.
  Acquire acquisition(const std::string& owner, std::uint32_t attempt = 1) const;
  Renew renewal(const std::string& owner, std::uint32_t attempt = 1) const;
  Release end(const std::string& owner, RunVerdict verdict = RunVerdict::succeeded,
              std::uint32_t attempt = 1) const;

  Reply send(const Request& request, ServerTime not_after) {
    return implementation_->execute(request, now, not_after);
  }
  Reply send(const Request& request) { return send(request, now); }
  Reply acquire(const std::string& owner, std::uint32_t attempt = 1) {
    return send(acquisition(owner, attempt));
  }
  Reply renew(const std::string& owner, std::uint32_t attempt = 1) {
    return send(renewal(owner, attempt));
  }
  Reply release(const std::string& owner, RunVerdict verdict = RunVerdict::succeeded,
                std::uint32_t attempt = 1) {
    return send(end(owner, verdict, attempt));
  }
  Revoked revoke() { return implementation_->revoke(name, now); }

  rules::Record record() const { return implementation_->record(name); }
  std::int64_t counted(const std::string& owner, std::string_view counter) const;
  bool is_empty() { return implementation_->is_empty(); }
  void lose_everything() { implementation_->lose_everything(); }
  void lose_grant() { implementation_->lose_grant(name); }
  void lose_groups() { implementation_->lose_groups(name); }
  void add_to_counter(const std::string& job, const std::string& counter, std::int64_t by) {
    implementation_->add_to_counter(name, job, counter, by);
  }
  // Groups g1 to g<n>, each dated a minute after the one before, the last a minute before now.
  void add_groups(int n);

 private:
  std::unique_ptr<Implementation> implementation_;
};

class LockTest : public ::testing::TestWithParam<DecidedBy> {
 protected:
  static Lock new_lock() { return Lock(GetParam()); }
};

inline std::string name_of_implementation(const ::testing::TestParamInfo<DecidedBy>& info) {
  return info.param == DecidedBy::rules ? "Rules" : "Scripts";
}

#define CRONLATCH_RUN_ON_BOTH(fixture)                                                           \
  INSTANTIATE_TEST_SUITE_P(By, fixture, ::testing::Values(DecidedBy::rules, DecidedBy::scripts), \
                           name_of_implementation)

}  // namespace cronlatch::testing
