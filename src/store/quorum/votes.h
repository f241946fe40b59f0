// SPDX-License-Identifier: Apache-2.0
// Votes: what the replies of the servers of a quorum to one request mean together. Pure functions.
// With N servers a decision needs N/2 + 1 of them, so that two decisions share a server.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store.h"

namespace cronlatch::quorum {

// One reply for each server; none: it has not answered yet.
using Replies = std::vector<std::optional<Reply>>;

std::size_t majority_of(std::size_t servers);
// Whether a retry is useless: so many servers returned an error that only the user can repair that
// the others are no majority.
bool is_final(std::size_t servers, std::size_t failed_for_the_user);

enum class Verdict {
  pending,      // more replies are needed
  yes,          // a majority granted, renewed or answered
  no,           // a majority cannot be reached: servers refused
  unavailable,  // a majority cannot be reached: servers did not answer
};

// Granted by a majority. A finished run identity on one server is a refusal by all (K3).
Verdict judge_acquire(const Replies& replies);
// Confirmed by a majority. `no`: a majority can no longer be the caller's.
Verdict judge_renew(const Replies& replies);
// Executed by a majority, also by servers on which another run holds the lock.
Verdict judge_release(const Replies& replies);

// The state of a lock that was not granted to the caller.
struct Contention {
  Busy busy{};  // of the server with the highest fence; its flags are those of all servers
  bool is_decided = false;  // a majority names the same holder, or the run identity is finished
  bool is_leading = false;  // the caller has more servers than each other run; the lowest server
                            // decides between equal numbers
};
// No value without a Busy.
std::optional<Contention> find_contention(const Replies& replies);

// Two entries that one server granted: their votes are one. The earlier entry is first. No value
// without such a pair, or while the servers did not name themselves (Granted::server).
std::optional<std::pair<std::size_t, std::size_t>> same_server(const Replies& replies);

// The highest fence of the grants.
Fence highest_fence(const Replies& replies);
// Why the lease is lost: a revocation first, because a person requested it.
LostReason loss_of(const Replies& replies);
// Of all servers that did not answer. Final only if that is why there is no majority.
Unavailable unavailable_of(const Replies& replies);

template <class T>
std::size_t count_of(const Replies& replies) {
  std::size_t count = 0;
  for (const auto& reply : replies)
    if (reply && std::holds_alternative<T>(*reply)) ++count;
  return count;
}

}  // namespace cronlatch::quorum
