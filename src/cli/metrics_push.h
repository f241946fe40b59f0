// SPDX-License-Identifier: Apache-2.0
// Pushes the text of a run's lock to a Pushgateway, for hosts that nobody scrapes. One request on a
// connection of its own, within a deadline; the command has ended and the lock is free by then.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "options/options.h"
#include "options/push_url.h"

namespace cronlatch {

struct Push {
  PushGroup group;
  std::string text;  // Prometheus text
};

// What goes where. Whoever shares a store has the same ledger, so its group is the lock's alone;
// what only this host knows (run errors, a file store's ledger) is in a group of this host's.
enum class LockStatsScope { shared_store, this_host };
std::vector<Push> pushes_of(std::string_view lock_stats, std::string_view errors,
                            const std::string& lock, const std::string& host,
                            LockStatsScope lock_stats_of);

// Both ends of the exchange as text. Pure.
std::string push_request(const PushUrl& url, const Push& push);
// Nothing while the head of the answer is not whole yet.
std::optional<Status> push_answer(std::string_view received);

// Delivers one; blocks until `give_up` at most. TLS as the options say it for the store: its CA (or
// the system's), its client certificate; the name is the URL's host.
Status push_metrics(const Options& options, const PushUrl& url, const Push& push,
                    TimePoint give_up);

}  // namespace cronlatch
