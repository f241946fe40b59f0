// SPDX-License-Identifier: Apache-2.0
// The leases that callers have by the replies alone, without the stored data and the rules.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "core/store.h"

namespace cronlatch::testing {

class LiveLeases {
 public:
  void note(const Acquire& request, const Reply& reply, ServerTime now) {
    if (std::holds_alternative<Granted>(reply)) ends_[key(request)] = now + request.ttl;
    // A finished identity ends a grant whose answer the caller never received.
    const auto* busy = std::get_if<Busy>(&reply);
    if (busy != nullptr && busy->reason == BusyReason::done) ends_.erase(key(request));
  }
  void note(const Renew& request, const Reply& reply, ServerTime now) {
    if (std::holds_alternative<Renewed>(reply)) {
      ServerTime& ends = ends_[key(request)];
      ends = std::max(ends, now + request.ttl);
    } else if (std::holds_alternative<NotHolder>(reply)) {
      ends_.erase(key(request));
    }
  }
  void note(const Release& request, const Reply& reply, ServerTime) {
    if (!std::holds_alternative<TooLate>(reply)) ends_.erase(key(request));
  }
  // The server's clock was set back: the leases last as long as before.
  void step_back(Micros by) {
    for (auto& [claim, ends] : ends_) ends = ends + -by;
  }
  void clear() { ends_.clear(); }
  std::size_t alive(ServerTime now) const {
    return static_cast<std::size_t>(std::count_if(
        ends_.begin(), ends_.end(), [now](const auto& lease) { return now < lease.second; }));
  }

 private:
  template <class Verb>
  static std::pair<std::string, std::uint32_t> key(const Verb& verb) {
    return {verb.claim.owner, verb.claim.attempt};
  }
  std::map<std::pair<std::string, std::uint32_t>, ServerTime> ends_;
};

}  // namespace cronlatch::testing
