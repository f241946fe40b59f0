// SPDX-License-Identifier: Apache-2.0
// A lock under test: the rules with a clock that the test moves, and short ways to ask.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "store/rules.h"

namespace cronlatch::testing {

using namespace std::chrono_literals;

struct Lock {
  rules::Record record;
  ServerTime now{1'763'690'000'000'000};
  Millis ttl{30'000};
  rules::Tenure tenure = rules::Tenure::lease;

  void pass(Micros d) { now = now + d; }
  static Claim claim(std::string owner, std::uint32_t attempt = 1) {
    return {std::move(owner), attempt};
  }

  Acquire acquisition(const std::string& owner, std::uint32_t attempt = 1) const {
    Acquire a;
    a.claim = claim(owner, attempt);
    a.identity = {"pod-" + owner, "ns/" + owner, "", ""};
    a.ttl = ttl;
    a.once_ttl = std::chrono::hours(24);
    return a;
  }
  Reply acquire(const Acquire& a) { return rules::decide(record, a, now, now, tenure); }
  Reply acquire(const std::string& owner, std::uint32_t attempt = 1) {
    return acquire(acquisition(owner, attempt));
  }

  Renew renewal(const std::string& owner, std::uint32_t attempt = 1) const {
    Renew r;
    r.claim = claim(owner, attempt);
    r.identity = {"pod-" + owner, "ns/" + owner, "", ""};
    r.fence = record.fence;
    r.ttl = ttl;
    return r;
  }
  Reply renew(const Renew& r) { return rules::decide(record, r, now, now, tenure); }
  Reply renew(const std::string& owner, std::uint32_t attempt = 1) {
    return renew(renewal(owner, attempt));
  }

  Release end(const std::string& owner, RunVerdict verdict = RunVerdict::succeeded,
              std::uint32_t attempt = 1) const {
    Release r;
    r.claim = claim(owner, attempt);
    r.identity = {"pod-" + owner, "ns/" + owner, "", ""};
    r.fence = record.fence;
    r.verdict = verdict;
    r.mark_done = verdict == RunVerdict::succeeded;
    r.once_ttl = std::chrono::hours(24);
    return r;
  }
  Reply release(const Release& r) { return rules::decide(record, r, now, now); }
  Reply release(const std::string& owner, RunVerdict verdict = RunVerdict::succeeded,
                std::uint32_t attempt = 1) {
    return release(end(owner, verdict, attempt));
  }

  std::int64_t counted(const std::string& owner, std::string_view name) const {
    const auto at = record.jobs.find("ns/" + owner);
    return at == record.jobs.end() ? 0 : at->second.get(name);
  }
};

template <class T>
T got(const Reply& reply) {
  const T* held = std::get_if<T>(&reply);
  EXPECT_NE(held, nullptr) << "the reply is alternative " << reply.index();
  return held != nullptr ? *held : T{};
}

}  // namespace cronlatch::testing
