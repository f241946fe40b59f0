// SPDX-License-Identifier: Apache-2.0
// SentinelRoute: the master that a Sentinel names. The Sentinels are queried in order with a
// stagger, all at once where they are slow; the first address is used. A Sentinel whose address
// turned out to be no usable master is queried last the next time.
#pragma once

#include <memory>
#include <vector>

#include "store/redis/route.h"
#include "store/redis/sentinel_query.h"
#include "store/redis/tls.h"

namespace cronlatch::redis {

inline constexpr Millis kSentinelStagger{250};

class SentinelRoute : public Route {
 public:
  // `tls`: for the Sentinels; none: plain TCP.
  SentinelRoute(SentinelConfig config, std::optional<TlsSettings> tls);

  void reset() override;
  void begin(TimePoint now, TimePoint give_up) override;
  void watch(PollSet& set) const override;
  std::optional<std::variant<NextServer, Failure>> step(const PollSet& set, TimePoint now) override;
  std::optional<Retry> after_failure(const Failure& failure) override;
  std::optional<Retry> after_error(std::string_view text) override;
  Error timeout_error() const override;
  void set_credentials(const StoreCredentials& now) override;

 private:
  struct Attempt {
    std::size_t sentinel;  // index in the configuration
    std::unique_ptr<SentinelQuery> query;
  };
  void start_next(TimePoint now);
  NextServer found(const NamedMaster& master, std::size_t sentinel, TimePoint now);
  Failure nothing_found() const;
  void demote_last();

  SentinelConfig config_;
  std::optional<TlsContext> tls_;
  std::vector<std::size_t> order_;  // of the next search
  std::vector<Attempt> attempts_;
  std::size_t started_ = 0;  // Sentinels of this search
  std::optional<TimePoint> next_at_;
  TimePoint give_up_{};
  std::vector<Failure> failures_;        // of this search
  std::size_t unknown_ = 0;              // Sentinels of this search that do not know the master
  std::optional<std::size_t> answered_;  // the Sentinel whose address is in use
  std::size_t retries_ = 0;              // of this request
};

}  // namespace cronlatch::redis
