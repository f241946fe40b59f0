// SPDX-License-Identifier: Apache-2.0
// RunSpec: what one run is asked to do, from the options and the facts of this process.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "core/lease.h"
#include "core/store.h"

namespace cronlatch {

enum class OnBusy { skip, wait, fail };
enum class OnLost { kill, term, warn };
enum class OnStoreDown { fail, wait, run };
enum class Leftovers { end, wait, leave };

struct RunSpec {
  std::string lock;
  std::string owner;  // 32 hex digits from the kernel's random source
  Identity identity;
  Timings timings;
  OnBusy on_busy = OnBusy::skip;
  OnLost on_lost = OnLost::kill;
  OnStoreDown on_store_down = OnStoreDown::fail;
  Leftovers leftovers = Leftovers::end;
  Millis connect_timeout{};  // for how long one request is retried
  Millis wait_timeout{0};    // zero: no limit
  Millis min_hold{0};
  Millis max_run{0};     // zero: no limit
  Millis warn_after{0};  // zero: off
  Millis kill_after{};
  Millis once_ttl{};
  Millis grace_period{};  // from TERM until the process may be killed from outside
  unsigned slots = 1;
  bool has_skip_command = false;
  std::uint64_t seed = 0;    // of the jitter
  Micros wall_minus_boot{};  // to print deadlines as wall times, nothing else
};

}  // namespace cronlatch
