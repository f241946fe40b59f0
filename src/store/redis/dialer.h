// SPDX-License-Identifier: Apache-2.0
// Dialer: a TCP connection to the first of several addresses that accepts, as in RFC 8305. The next
// address is tried when the one before it failed, or did not answer for kDialStagger. Never blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "core/store.h"
#include "store/redis/address.h"

namespace cronlatch::redis {

inline constexpr Millis kDialStagger{250};

struct Dialed {
  Fd socket;
  Address address;
};

// The order of attempts: families alternate; addresses that failed recently are last, the least
// recent failure first.
std::vector<Address> dial_order(std::vector<Address> addresses, const std::vector<Address>& failed);

class Dialer {
 public:
  // The first attempt starts at once.
  Dialer(std::vector<Address> addresses, TimePoint now);
  void watch(PollSet& set) const;
  // The connection, or Code::unreachable with the last error when every address failed.
  std::optional<Result<Dialed>> step(const PollSet& set, TimePoint now);
  // Addresses that failed, in order.
  const std::vector<Address>& failed() const { return failed_; }
  // Addresses without an answer, for a caller whose deadline has passed.
  std::vector<Address> pending() const;

 private:
  struct Attempt {
    Fd socket;
    Address address;
  };
  void start_next(TimePoint now);
  void add_failure(const Address& address, int error_number);

  std::vector<Address> waiting_;  // in reverse: the next one is at the back
  std::vector<Attempt> attempts_;
  std::vector<Address> failed_;
  std::optional<TimePoint> next_at_;
  std::string last_error_;
  int last_errno_ = 0;
};

}  // namespace cronlatch::redis
