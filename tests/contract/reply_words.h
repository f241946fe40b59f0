// SPDX-License-Identifier: Apache-2.0
// Replies and views as text: what two stores must agree on, without the times that differ between
// their clocks.
#pragma once

#include <optional>
#include <string>

#include "core/lock_stats.h"
#include "core/store.h"

namespace cronlatch::testing {

inline std::string text_of(const std::optional<Reply>& reply) {
  if (!reply) return "no reply";
  struct Words {
    std::string operator()(const Granted& r) const {
      return "granted " + std::to_string(r.fence) + (r.stole ? " stole" : "");
    }
    std::string operator()(const Busy& r) const {
      return "busy " + std::to_string(static_cast<int>(r.reason)) + " " + r.holder + " " + r.job +
             " " + std::to_string(r.fence) + (r.group_granted ? " group" : "");
    }
    std::string operator()(const Renewed& r) const {
      return r.restored ? "renewed, restored" : "renewed";
    }
    std::string operator()(const NotHolder& r) const {
      return "not holder " + std::to_string(static_cast<int>(r.reason));
    }
    std::string operator()(const Released&) const { return "released"; }
    std::string operator()(const TooLate& r) const { return r.closed ? "closed" : "too late"; }
    std::string operator()(const Unavailable& r) const { return "unavailable " + r.error.message; }
    std::string operator()(const Quarantined&) const { return "quarantined"; }
  };
  return std::visit(Words{}, *reply);
}

// With the counters, but not the times in them.
inline std::string text_of(const LockView& view) {
  std::string text = std::to_string(static_cast<int>(view.state)) + " " + view.identity.holder +
                     " " + std::to_string(view.fence) + " " + std::to_string(view.attempt);
  for (const auto& [job, counters] : view.jobs)
    for (const auto& [name, value] : counters.values)
      if (name != "last_success" && name != "last_skip" && value != 0)
        text += "\n" + job + " " + name + " " + std::to_string(value);
  return text;
}

inline std::string text_of(const Revoked& revoked) {
  return std::string(revoked.was_held      ? "revoked "
                     : revoked.was_cooling ? "opened "
                                           : "nothing to revoke ") +
         revoked.holder + " " + std::to_string(revoked.fence);
}

// For counting how often each reply occurred.
inline std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace cronlatch::testing
