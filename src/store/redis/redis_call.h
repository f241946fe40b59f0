// SPDX-License-Identifier: Apache-2.0
// What the blocking calls of RedisStore have in common. Only redis_call.cc and redis_lock_stats.cc
// include this header.
#pragma once

#include <string>

#include "base/kernel_clock.h"
#include "store/redis/redis_store.h"

namespace cronlatch::redis {

Error unreadable(const std::string& where);

// ---- errors of single keys ----
bool is_wrong_type(const Resp& answer);
// The server does not have the key now: another node of the Cluster has it, or gets it.
bool is_elsewhere(const Resp& answer);

template <class Read>
auto RedisStore::with_retries(TimePoint give_up, const Read& read) -> decltype(read()) {
  if (route_ == nullptr) return read();
  start_routed_call();
  for (;;) {
    auto result = read();
    const TimePoint now = boot_now();
    if (result || now >= give_up || !is_retried(now)) return result;
  }
}

}  // namespace cronlatch::redis
