// SPDX-License-Identifier: Apache-2.0
// Resolver: the addresses of one host name, from c-ares: /etc/hosts, then DNS with the search
// domains and ndots of /etc/resolv.conf. For an IP literal no file is read. A dead nameserver costs
// less than a second.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/redis/discovery.h"

struct ares_channeldata;

namespace cronlatch::redis {

// Overrides of /etc/resolv.conf, for tests.
struct ResolverSettings {
  std::string servers;              // "127.0.0.1:5300,127.0.0.1:5301"; "" = the system's
  std::vector<std::string> search;  // used when `ndots` is set
  int ndots = -1;                   // -1 = the system's
  Millis try_timeout{400};          // per nameserver, doubled in the second round
  int tries = 2;
};

class Resolver : public Discovery {
 public:
  Resolver(std::string host, std::uint16_t port, ResolverSettings settings);
  ~Resolver() override;
  void begin(TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Result<std::vector<Address>>> step(const PollSet& set, TimePoint now) override;

 private:
  using Channel = std::unique_ptr<ares_channeldata, void (*)(ares_channeldata*)>;
  using Answer = std::optional<Result<std::vector<Address>>>;
  bool open_channel();
  void process(const PollSet& set);
  void set_deadline(TimePoint now);
  Error failure(int status) const;

  std::string host_;
  std::uint16_t port_;
  ResolverSettings settings_;
  Channel channel_;
  Answer answer_;
  std::optional<TimePoint> deadline_;
};

}  // namespace cronlatch::redis
