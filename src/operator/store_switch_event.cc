// SPDX-License-Identifier: Apache-2.0
#include "operator/store_switch_event.h"

#include <string>

namespace cronlatch::op {

void StoreSwitchEvent::update(const std::optional<ServerSwitch>& switched) {
  if (switched)
    pending_ = kube::Event{.regarding = deps_.pod,
                           .identity = switched->now + "\n" + std::to_string(switched->seen.us),
                           .type = kube::EventType::warning,
                           .reason = "StoreSwitched",
                           .action = "ReadStore",
                           .note = "the store uses another server: " + switched->now +
                                   " (before: " + switched->before +
                                   "); without strict, a failover can lose the last grants"};
  if (pending_ && !(deps_.leading() && deps_.record(*pending_) == ApplyResult::retry))
    pending_.reset();
}

}  // namespace cronlatch::op
