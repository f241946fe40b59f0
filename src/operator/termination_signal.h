// SPDX-License-Identifier: Apache-2.0
// TerminationSignal: waits for SIGTERM and SIGINT instead of handling them asynchronously.
#pragma once

#include <csignal>

#include "base/time.h"

namespace cronlatch::op {

class TerminationSignal {
 public:
  // Blocks both signals, and ignores SIGPIPE. Create it before the first thread: threads inherit
  // the signal mask.
  TerminationSignal();
  // Waits at most `limit`; true when a signal arrived.
  bool received_within(Millis limit) const;

 private:
  sigset_t signals_{};
};

}  // namespace cronlatch::op
