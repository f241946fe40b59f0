// SPDX-License-Identifier: Apache-2.0
#include "operator/termination_signal.h"

#include <ctime>

namespace cronlatch::op {

TerminationSignal::TerminationSignal() {
  ::sigemptyset(&signals_);
  ::sigaddset(&signals_, SIGTERM);
  ::sigaddset(&signals_, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool TerminationSignal::received_within(Millis limit) const {
  const timespec wait{limit.count() / 1000, (limit.count() % 1000) * 1'000'000};
  return ::sigtimedwait(&signals_, nullptr, &wait) > 0;
}

}  // namespace cronlatch::op
