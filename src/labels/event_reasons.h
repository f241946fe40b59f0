// SPDX-License-Identifier: Apache-2.0
// The reasons of the operator's Events. They are public: docs/reference/events.md, and the setting
// events-skip.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cronlatch {

// Each group has limits of its own, so that many Events of one group suppress none of another.
enum class EventGroup {
  routine,    // a run ended as configured, or annotations were copied
  failure,    // a run or a configuration failed
  violation,  // a command ran without the lock, or may be repeated
};
std::string_view name_of(EventGroup group);

struct EventReason {
  std::string_view name;
  EventGroup group = EventGroup::violation;
  // A description of the object's present state, not an occurrence: it has no count, and a new
  // description is a new Event.
  bool is_state = false;
  // The next leader reads from this Event that the Job is counted: it is always written.
  bool is_required = false;
  std::string_view objects{}, help{};
};

std::span<const EventReason> event_reasons();
// An unknown reason has the limits of a violation.
const EventReason& event_reason(std::string_view name);
// Those that events-skip may contain: "Acquired, Busy, ...".
std::string optional_event_reasons();

}  // namespace cronlatch
