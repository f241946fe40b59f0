// SPDX-License-Identifier: Apache-2.0
#include "store/quorum/votes.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace cronlatch::quorum {
namespace {

std::size_t missing(const Replies& replies) {
  return static_cast<std::size_t>(std::count(replies.begin(), replies.end(), std::nullopt));
}

// `yes`: replies that agree. `no`: replies that make the answer no, once there is a majority of
// them.
Verdict judge(const Replies& replies, std::size_t yes, std::size_t no) {
  const std::size_t needed = majority_of(replies.size());
  if (yes >= needed) return Verdict::yes;
  if (no >= needed) return Verdict::no;
  const std::size_t open = missing(replies);
  return yes + open >= needed || no + open >= needed ? Verdict::pending : Verdict::unavailable;
}

const Busy* busy_of(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Busy>(&*reply) : nullptr;
}

// The number of servers that a run has, and the lowest of them.
struct Share {
  std::size_t count = 0;
  std::size_t lowest = 0;
  bool exceeds(const Share& other) const {
    return count != other.count ? count > other.count : lowest < other.lowest;
  }
};

Share share_of(const Replies& replies, const Busy& run) {
  Share share;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Busy* busy = busy_of(replies[i]);
    if (busy == nullptr || busy->holder != run.holder || busy->job != run.job) continue;
    if (share.count++ == 0) share.lowest = i;
  }
  return share;
}

Share share_of_caller(const Replies& replies) {
  Share share;
  for (std::size_t i = 0; i < replies.size(); ++i)
    if (replies[i] && std::holds_alternative<Granted>(*replies[i]) && share.count++ == 0)
      share.lowest = i;
  return share;
}

}  // namespace

std::size_t majority_of(std::size_t servers) { return servers / 2 + 1; }

bool is_final(std::size_t servers, std::size_t failed_for_the_user) {
  return servers - failed_for_the_user < majority_of(servers);
}

Verdict judge_acquire(const Replies& replies) {
  const std::size_t granted = count_of<Granted>(replies);
  std::size_t refused = 0;
  for (const auto& reply : replies) {
    const Busy* busy = busy_of(reply);
    if (busy != nullptr && busy->reason == BusyReason::done) return Verdict::no;
    if (busy != nullptr || (reply && std::holds_alternative<TooLate>(*reply))) ++refused;
  }
  if (granted + missing(replies) >= majority_of(replies.size())) return judge(replies, granted, 0);
  return judge(replies, 0, granted + refused);
}

Verdict judge_renew(const Replies& replies) {
  return judge(replies, count_of<Renewed>(replies), count_of<NotHolder>(replies));
}

Verdict judge_release(const Replies& replies) {
  return judge(replies, count_of<Released>(replies) + count_of<NotHolder>(replies), 0);
}

std::optional<Contention> find_contention(const Replies& replies) {
  std::optional<Contention> found;
  bool group_granted = false;
  const Share own = share_of_caller(replies);
  bool is_leading = own.count > 0;
  for (const auto& reply : replies) {
    const Busy* busy = busy_of(reply);
    if (busy == nullptr) continue;
    if (!found) found.emplace();
    group_granted = group_granted || busy->group_granted;
    if (found->busy.reason != BusyReason::done &&
        (busy->reason == BusyReason::done || busy->fence >= found->busy.fence))
      found->busy = *busy;
    const Share share = share_of(replies, *busy);
    if (busy->reason == BusyReason::done || share.count >= majority_of(replies.size()))
      found->is_decided = true;
    if (!own.exceeds(share)) is_leading = false;
  }
  if (!found) return found;
  found->busy.group_granted = group_granted;
  found->is_leading = is_leading;
  return found;
}

std::optional<std::pair<std::size_t, std::size_t>> same_server(const Replies& replies) {
  std::map<std::string_view, std::size_t> entries;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Granted* granted = replies[i] ? std::get_if<Granted>(&*replies[i]) : nullptr;
    if (granted == nullptr || granted->server.empty()) continue;
    const auto [entry, is_first] = entries.emplace(granted->server, i);
    if (!is_first) return std::pair{entry->second, i};
  }
  return std::nullopt;
}

Fence highest_fence(const Replies& replies) {
  Fence highest = 0;
  for (const auto& reply : replies)
    if (const Granted* granted = reply ? std::get_if<Granted>(&*reply) : nullptr)
      highest = std::max(highest, granted->fence);
  return highest;
}

LostReason loss_of(const Replies& replies) {
  std::optional<LostReason> found;
  for (const auto& reply : replies)
    if (const NotHolder* lost = reply ? std::get_if<NotHolder>(&*reply) : nullptr)
      if (!found || lost->reason == LostReason::revoked) found = lost->reason;
  return found.value_or(LostReason::gone);
}

Unavailable unavailable_of(const Replies& replies) {
  const std::size_t needed = majority_of(replies.size());
  std::size_t failed = 0, final_failures = 0;
  bool unsent = true;
  const Unavailable* shown = nullptr;
  for (const auto& reply : replies) {
    const Unavailable* down = reply ? std::get_if<Unavailable>(&*reply) : nullptr;
    if (down == nullptr) continue;
    ++failed;
    if (!down->transient) ++final_failures;
    if (shown == nullptr || (shown->transient && !down->transient)) shown = down;
  }
  for (const auto& reply : replies) {
    const Unavailable* down = reply ? std::get_if<Unavailable>(&*reply) : nullptr;
    if (down == nullptr || !down->unsent) unsent = false;
  }
  const bool no_retry = is_final(replies.size(), final_failures);
  Error error{
      no_retry ? shown->error.code : Code::unreachable,
      "the quorum has " + std::to_string(replies.size()) + " servers and needs " +
          std::to_string(needed) + "; " +
          std::to_string(failed + needed > replies.size() ? failed : failed + missing(replies)) +
          " did not execute the request"};
  if (shown != nullptr) {
    error.message += ": " + shown->error.message;
    error.hint = shown->error.hint;
  } else {
    error.hint = "check that the servers are not stopped or overloaded";
  }
  return {std::move(error), !no_retry, unsent};
}

}  // namespace cronlatch::quorum
