// SPDX-License-Identifier: Apache-2.0
#include "cli/run_spec.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/duration.h"
#include "terminal/table.h"

namespace cronlatch {
namespace {

std::string hex(const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

}  // namespace

Result<RunFacts> read_run_facts(const Clock& clock) {
  constexpr std::size_t kOwnerBytes = 16;
  std::array<unsigned char, kOwnerBytes + sizeof(std::uint64_t)> random;
  if (getrandom(random.data(), random.size(), 0) != ssize_t{random.size()})
    return Error{Code::system, std::string("getrandom failed: ") + std::strerror(errno)};
  RunFacts facts;
  facts.owner = hex(random.data(), kOwnerBytes);
  std::memcpy(&facts.seed, random.data() + kOwnerBytes, sizeof facts.seed);
  facts.wall_minus_boot = Micros(clock.wall().us) - clock.now().time_since_epoch();
  return facts;
}

TimingOptions timing_options(const Options& options) {
  return {.ttl = options.ttl,
          .renew_every = options.renew_every,
          .op_timeout = options.op_timeout,
          .kill_after = options.kill_after};
}

Result<RunSpec> make_run_spec(const Options& options, const RunFacts& facts) {
  const Result<Timings> timings = plan_timings(timing_options(options));
  if (!timings) return timings.error();
  RunSpec spec;
  spec.lock = options.lock;
  spec.owner = facts.owner;
  spec.identity = {.holder = options.holder,
                   .job = options.job,
                   .group = options.attempt_group,
                   .once = options.once_per};
  spec.timings = *timings;
  spec.on_busy = options.on_busy;
  spec.on_lost = options.on_lost;
  spec.on_store_down = options.on_store_down;
  spec.leftovers = options.leftovers;
  spec.connect_timeout = options.connect_timeout;
  spec.wait_timeout = options.wait_timeout;
  spec.min_hold = options.min_hold;
  spec.max_run = options.max_run;
  spec.warn_after = options.warn_after;
  spec.kill_after = options.kill_after;
  spec.once_ttl = options.once_ttl;
  spec.grace_period = options.grace_period;
  spec.slots = static_cast<unsigned>(options.slots);
  spec.has_skip_command = !options.skip_command.empty();
  spec.seed = facts.seed;
  spec.wall_minus_boot = facts.wall_minus_boot;
  return spec;
}

std::vector<LogLine> lease_warnings(const Options& options, const Timings& timings) {
  if (timings.grace >= options.kill_after) return {};
  return {{Level::warn,
           "short_grace",
           "a command that is stopped at the end of its lease gets " +
               rounded_duration(timings.grace) + " between TERM and KILL; kill-after is " +
               show_duration(options.kill_after),
           {},
           "set a longer ttl"}};
}

}  // namespace cronlatch
