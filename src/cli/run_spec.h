// SPDX-License-Identifier: Apache-2.0
// From the options to the specification of a run. Pure; facts about this process are
// parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "core/run.h"
#include "options/options.h"

namespace cronlatch {

struct RunFacts {
  std::string owner;         // 32 hex digits from the kernel's random source
  std::uint64_t seed = 0;    // of the jitter
  Micros wall_minus_boot{};  // to print deadlines as wall times
};
Result<RunFacts> read_run_facts(const Clock& clock);

TimingOptions timing_options(const Options& options);

// `options` are validated, lock and holder are filled in.
Result<RunSpec> make_run_spec(const Options& options, const RunFacts& facts);

// For the start of a run: the lease leaves the command less time to stop than kill-after requests.
std::vector<LogLine> lease_warnings(const Options& options, const Timings& timings);

}  // namespace cronlatch
