// SPDX-License-Identifier: Apache-2.0
// Events (events.k8s.io/v1) as `kubectl describe` shows them. The name of each is made from what it
// tells, so that telling it twice, by this leader or the next, is answered 409 and is one Event.
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
  std::string identity;  // what makes it this Event and no other; with regarding's UID and reason
  EventType tone = EventType::normal;
  std::string_view reason;  // "Skipped"
  std::string_view action;  // "Run"
  std::string note;         // for people; cut at what the API takes
};

// `instance` is the reporting pod.
Request to_request(const Event& event, std::string_view instance, WallTime now);

}  // namespace cronlatch::kube
