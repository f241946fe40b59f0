// SPDX-License-Identifier: Apache-2.0
// Pushes the metrics of a run's lock to a Pushgateway, for hosts that Prometheus does not scrape.
// One request on a connection of its own, with a deadline, after the lock has been released.
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

// The groups. Hosts that share a store have the same lock statistics, whose group has only the
// lock; run errors and the statistics of a file store have a group of this host.
enum class LockStatsScope { shared_store, this_host };
std::vector<Push> pushes_of(std::string_view lock_stats, std::string_view errors,
                            const std::string& lock, const std::string& host,
                            LockStatsScope lock_stats_of);

// The request and the response as text. Pure.
std::string push_request(const PushUrl& url, const Push& push);
// std::nullopt while the response is incomplete.
std::optional<Status> parse_push_response(std::string_view received);

// Sends one; blocks until `give_up` at most. TLS has the store's options: its CA (or the system's),
// its client certificate; the name is the URL's host.
Status push_metrics(const Options& options, const PushUrl& url, const Push& push,
                    TimePoint give_up);

}  // namespace cronlatch
