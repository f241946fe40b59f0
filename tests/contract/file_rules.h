// SPDX-License-Identifier: Apache-2.0
// FileRules: what the file store decides, derived from the rules. The differences to the rules of a
// lease are those of the kernel's lock:
//   - it decides whether a grant has ended (Expiry), and only its holder can renew;
//   - a run that waits keeps no place;
//   - a claim whose kernel lock another program has is busy, not granted again;
//   - a held lock is not revoked;
//   - the record keeps eight answers.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "store/rules.h"
#include "support/patience.h"

namespace cronlatch::testing {

using rules::Expiry;
using rules::HoldState;

// The rules, and which program has the kernel's lock for which claim.
class FileRules {
 public:
  static constexpr std::size_t kKeptAnswers = 8;

  explicit FileRules(const ServerTime& now) : now_(now) {}

  const rules::Record& record() const { return record_; }
  bool is_locked() const { return holder_.has_value(); }
  std::optional<std::size_t> holder() const {  // its program
    return holder_ ? std::optional(holder_->program) : std::nullopt;
  }
  void lose_record() { record_ = {}; }
  void end_program(std::size_t program) {
    if (holder_ && holder_->program == program) holder_.reset();
  }

  Reply execute(std::size_t program, const Request& request, bool is_late) {
    if (is_late) return TooLate{};
    Reply reply = std::visit([&](const auto& verb) { return decide(program, verb); }, request);
    auto& kept = record_.answers;
    while (kept.size() > kKeptAnswers)
      kept.erase(std::min_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      }));
    return reply;
  }
  Revoked revoke() { return rules::revoke(record_, now_, Expiry::holder_gone); }
  LockView view(const std::string& lock) const {
    LockView view = rules::view(lock, record_, now_,
                                is_locked() ? Expiry::holder_present : Expiry::holder_gone);
    // Locked without a record.
    if (is_locked() && record_.state != HoldState::held) {
      view.state = LockState::held;
      view.identity = {};
      view.fence = view.attempt = 0;
    }
    return view;
  }

 private:
  struct Holder {
    std::size_t program;
    Claim claim;
    bool operator==(const Holder&) const = default;
  };

  Reply decide(std::size_t program, const Acquire& acquire) {
    const Holder caller{program, acquire.claim};
    const bool is_holder = holder_ == caller;
    const bool is_excluded = is_locked() && !is_holder;
    rules::Record after = record_;
    Reply reply = rules::decide(after, acquire, now_, now_ + kPatience,
                                is_excluded ? Expiry::holder_present : Expiry::holder_gone,
                                rules::Waiting::unordered);
    if (std::holds_alternative<Granted>(reply) && is_excluded)
      return Busy{BusyReason::held, record_.identity.holder, record_.identity.job, record_.fence,
                  now_ - std::min(record_.acquired, now_)};
    record_ = std::move(after);
    if (std::holds_alternative<Granted>(reply)) holder_ = caller;
    if (std::holds_alternative<Busy>(reply) && is_holder) holder_.reset();
    // Without a name of the holder, the process is named.
    if (auto* busy = std::get_if<Busy>(&reply);
        busy != nullptr && busy->reason == BusyReason::held && busy->holder.empty() && is_excluded)
      busy->holder = "pid " + std::to_string(getpid());
    return reply;
  }
  Reply decide(std::size_t program, const Renew& renew) {
    const bool is_holder = holder_ == Holder{program, renew.claim};
    const bool is_recorded = record_.state == HoldState::held && record_.claim == renew.claim;
    if (!is_holder && (record_.state == HoldState::none || is_recorded))
      return NotHolder{LostReason::gone};
    return rules::decide(record_, renew, now_, now_ + kPatience,
                         is_holder ? Expiry::holder_gone : Expiry::holder_present);
  }
  Reply decide(std::size_t program, const Release& release) {
    Reply reply =
        rules::decide(record_, release, now_, now_ + kPatience, rules::Waiting::unordered);
    if (holder_ == Holder{program, release.claim}) holder_.reset();
    return reply;
  }

  const ServerTime& now_;
  rules::Record record_;
  std::optional<Holder> holder_;
};

}  // namespace cronlatch::testing
