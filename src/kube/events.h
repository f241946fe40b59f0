// SPDX-License-Identifier: Apache-2.0
// Events (events.k8s.io/v1), as `kubectl describe` shows them. The name of an Event is a digest of
// its identity: a second creation, by this leader or the next, receives 409. Further occurrences
// raise the count of its series.
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

std::string event_name(const Event& event);
// `instance` is the reporting pod. `count` above 1: this many occurrences, the last one now.
Request to_request(const Event& event, const std::string& name, unsigned count,
                   std::string_view instance, WallTime now);
// Sets the count of an Event that exists, and replaces its note by that of the last occurrence.
// This is a request to the core API: events.k8s.io does not permit another note
// (ValidateEventUpdate of the API server), and a note of an hour ago misleads.
Request to_repetition(const Event& event, const std::string& name, unsigned count, WallTime now);

}  // namespace cronlatch::kube
