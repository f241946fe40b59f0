// SPDX-License-Identifier: Apache-2.0
// Events (events.k8s.io/v1), as `kubectl describe` shows them. The name of an Event is a digest of
// its identity: a second creation, by this leader or the next, receives 409.
#pragma once

#include <string>
#include <string_view>

#include "kube/api.h"
#include "kube/object_ref.h"

namespace cronlatch::kube {

enum class EventType { normal, warning };

struct Event {
  ObjectRef regarding;
  ObjectRef related{};   // kind empty: none
  std::string identity;  // identifies the Event together with regarding's UID and the reason
  EventType type = EventType::normal;
  std::string_view reason;  // "Skipped"
  std::string_view action;  // "Run"
  std::string note;         // cut to the length that the API accepts
};

// `instance` is the reporting pod.
Request to_request(const Event& event, std::string_view instance, WallTime now);

}  // namespace cronlatch::kube
