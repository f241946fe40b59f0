// SPDX-License-Identifier: Apache-2.0
#include "lock_load.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <variant>

#include "contract/contract.h"
#include "support/eventually.h"

namespace cronlatch::testing {
namespace {

constexpr Millis kTtl{60'000};  // no lease ends during a test
constexpr Seconds kAnswerWithin{2};
constexpr std::chrono::milliseconds kPause{2};
constexpr Seconds kLongestOutage{60};

}  // namespace

class LockLoad::Client {
 public:
  Client(LockLoad& load, std::string name, std::string lock)
      : load_(load), name_(std::move(name)), lock_(std::move(lock)) {
    auto opened = open_store(load_.spec_);
    if (opened)
      store_ = std::move(opened).value();
    else
      load_.violate(opened.error().message);
  }

  void run() {
    while (store_ != nullptr && !load_.stopping_) {
      ++attempt_;
      if (!acquire()) continue;
      load_.granted(lock_, fence_);
      for (int i = 0; i < 2; ++i) renew();
      load_.releasing(lock_);
      release();
    }
  }

 private:
  Claim claim() const { return {name_, attempt_}; }
  Identity identity() const { return {name_, "load/job", "", ""}; }

  // Until an answer whose result is known.
  template <class Verb>
  Reply known(Verb request) {
    for (const TimePoint start = boot_now();;) {
      request.give_up = boot_now() + kAnswerWithin;
      const std::optional<Reply> reply = send_and_wait(*store_, Request(request));
      const bool is_late =
          reply && std::holds_alternative<TooLate>(*reply) && !std::get<TooLate>(*reply).closed;
      if (reply && !is_late && !std::holds_alternative<Unavailable>(*reply)) return *reply;
      const auto* failed = reply ? std::get_if<Unavailable>(&*reply) : nullptr;
      if ((failed != nullptr && !failed->transient) || boot_now() > start + kLongestOutage) {
        load_.violate(failed != nullptr ? failed->error.message : "no answer");
        load_.stopping_ = true;
        return reply.value_or(Reply(TooLate{}));
      }
      ++load_.unknown_;
      std::this_thread::sleep_for(kPause);
    }
  }

  bool acquire() {
    Acquire request;
    request.lock = lock_;
    request.claim = claim();
    request.identity = identity();
    request.ttl = kTtl;
    request.if_busy = IfBusy::wait;
    while (true) {
      const Reply reply = known(request);
      if (const auto* granted = std::get_if<Granted>(&reply)) {
        fence_ = granted->fence;
        return true;
      }
      if (!std::holds_alternative<Busy>(reply)) load_.violate(name_ + ": an attempt was refused");
      if (!std::holds_alternative<Busy>(reply) || load_.stopping_) return give_back();
      std::this_thread::sleep_for(kPause);
    }
  }

  // A grant whose answer was lost is not left open.
  bool give_back() {
    fence_ = 0;
    release(RunVerdict::given_back);
    return false;
  }

  void renew() {
    Renew request{lock_, claim(), identity(), fence_, kTtl, {}};
    const Reply reply = known(request);
    const auto* renewed = std::get_if<Renewed>(&reply);
    if (renewed == nullptr) return load_.violate(name_ + ": a confirmed grant was lost");
    if (renewed->restored) load_.violate(name_ + ": a confirmed grant had to be restored");
  }

  void release(RunVerdict verdict = RunVerdict::succeeded) {
    Release request;
    request.lock = lock_;
    request.claim = claim();
    request.identity = identity();
    request.fence = fence_;
    request.verdict = verdict;
    const Reply reply = known(request);
    if (verdict != RunVerdict::given_back && !std::holds_alternative<Released>(reply))
      load_.violate(name_ + ": a confirmed grant was lost before its release");
  }

  LockLoad& load_;
  const std::string name_, lock_;
  std::unique_ptr<Backend> store_;
  std::uint32_t attempt_ = 0;
  Fence fence_ = 0;
};

LockLoad::LockLoad(StoreSpec spec, int clients, int locks) : spec_(std::move(spec)) {
  for (int i = 0; i < clients; ++i)
    threads_.emplace_back([this, i, locks] {
      Client(*this, "client-" + std::to_string(i), "load/lock-" + std::to_string(i % locks)).run();
    });
}

LockLoad::~LockLoad() { stop(); }

void LockLoad::stop() {
  stopping_ = true;
  threads_.clear();
}

bool LockLoad::runs_for(std::int64_t more) const {
  const std::int64_t wanted = grants_ + more;
  return eventually([&] { return grants_ >= wanted; }, kPatience * 3);
}

std::vector<std::string> LockLoad::violations() const {
  const std::lock_guard guard(mutex_);
  return violations_;
}

void LockLoad::violate(const std::string& what) {
  const std::lock_guard guard(mutex_);
  if (violations_.size() < 20) violations_.push_back(what);
}

void LockLoad::granted(const std::string& lock, Fence fence) {
  ++grants_;
  bool overlaps = false, falls = false;
  {
    const std::lock_guard guard(mutex_);
    Lock& seen = locks_[lock];
    overlaps = seen.holders++ != 0;
    falls = fence <= seen.fence;
    seen.fence = fence;
  }
  if (overlaps) violate(lock + ": granted to two clients at once");
  if (falls) violate(lock + ": a fence is not higher than the one before");
}

void LockLoad::releasing(const std::string& lock) {
  const std::lock_guard guard(mutex_);
  --locks_[lock].holders;
}

}  // namespace cronlatch::testing
