// SPDX-License-Identifier: Apache-2.0
// docs/reference/events.md, and the reasons in the chart's schema.
#include "gen/markdown.h"
#include "gen/pages.h"
#include "labels/event_reasons.h"

namespace cronlatch::gen {

std::string events_page() {
  std::string text =
      "# Events of the operator\n\n" + generated_from("`src/labels/event_reasons.cc`") + R"(
The leader records what happened to runs and CronJobs as Events of `events.k8s.io/v1`. `reportingController` is
`cronlatch.dev/operator`. The setting `events-skip` (chart value `events.skip`) contains reasons whose Events are not
written. Metrics do not depend on it.

)" + header({"reason", "on", "group", "meaning"});
  for (const EventReason& reason : event_reasons())
    text +=
        row({code(reason.name), std::string(reason.objects),
             std::string(name_of(reason.group)) + (reason.is_required ? ", always written" : ""),
             std::string(reason.help)});
  std::string states;
  for (const EventReason& reason : event_reasons())
    if (reason.is_state && !reason.is_required)
      states += (states.empty() ? "" : ", ") + code(reason.name);
  return text + R"(
## Series

The first occurrence of a reason on an object creates an Event. For one hour from then, further occurrences raise
`series.count` of this Event, and its note is that of the last occurrence. `kubectl describe` shows `x12 over 11m`. The
Events of earlier Jobs remain. The series is in the memory of the leader; the next leader begins a new one.

These reasons describe a state, and have no count: )" +
         states + R"(. Another description is a new Event.

## Limits

| limit | rate | burst |
|---|---|---|
| of a reason on one object | 1 in 5 minutes | 25 |
| of a group in one namespace | half of the next row | half of the next row |
| of a group | `events-per-second` (chart value `events.perSecond`) | that of 200 seconds |

Each group has limits of its own: many Events of the group `routine` suppress none of `failure` or `violation`. An
occurrence beyond a limit is not written at once. The next one that is written includes it in its count.
`cronlatch_events_suppressed_total` counts these occurrences. `AdmissionBypassed` has no limit: the next leader reads
from this Event that the Job is counted.
)";
}

std::string event_reason_schema() {
  std::string names;
  for (const EventReason& reason : event_reasons())
    if (!reason.is_required)
      names += (names.empty() ? "\"" : ", \"") + std::string(reason.name) + '"';
  return "      \"type\": \"string\", \"enum\": [" + names + "]\n    },\n";
}

}  // namespace cronlatch::gen
