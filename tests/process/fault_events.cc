// SPDX-License-Identifier: Apache-2.0
// The Events that the operator records for the run of a FaultTrial, whose outcome file is the
// termination message of its container. The program events_of_pod is the operator's code; what is
// expected is derived from the case and from the wrapper's exit code, fence and times.
#include "fault_events.h"

#include <optional>
#include <sstream>

#include "fault_trial.h"

namespace cronlatch::testing {
namespace {

using ::testing::MatchesRegex;

struct PodEvent {
  std::string object, type, reason, note;
};

struct Recorded {
  std::vector<PodEvent> events;
  std::string counted;  // in cronlatch_run_errors_total{reason="unreachable"}; "" for none
};

// No value in a build without the operator.
std::optional<Recorded> record([[maybe_unused]] const std::string& message_file,
                               [[maybe_unused]] int exit_code) {
#ifndef CRONLATCH_EVENTS_OF_POD
  return std::nullopt;
#else
  Program operator_side(
      {.argv = {CRONLATCH_EVENTS_OF_POD, message_file, std::to_string(exit_code)}});
  EXPECT_EQ(operator_side.exit_code(), 0) << operator_side.err();
  Recorded recorded;
  std::istringstream lines(operator_side.out());
  const std::string counted = "counted unreachable ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(counted)) {
      recorded.counted = line.substr(counted.size());
      continue;
    }
    std::istringstream fields(line);
    std::string kind, name, type, reason, note;
    std::getline(fields, kind, '\t');
    std::getline(fields, name, '\t');
    std::getline(fields, type, '\t');
    std::getline(fields, reason, '\t');
    std::getline(fields, note);
    recorded.events.push_back({kind + "/" + name, type, reason, note});
  }
  return recorded;
#endif
}

}  // namespace

void expect_events(const std::string& message_file, int exit_code,
                   const std::vector<ExpectedEvent>& expected, const std::string& counted) {
  const std::optional<Recorded> recorded = record(message_file, exit_code);
  if (!recorded) return;
  SCOPED_TRACE("message: " + read_file(message_file));
  // Each on the Job and on its CronJob, and no other.
  std::vector<std::string> wanted, found;
  for (const ExpectedEvent& each : expected)
    for (const char* object : {"Job/nightly-2", "CronJob/nightly"})
      wanted.push_back(std::string(object) + " " + each.type + " " + each.reason);
  for (const PodEvent& event : recorded->events) {
    found.push_back(event.object + " " + event.type + " " + event.reason);
    for (const ExpectedEvent& each : expected)
      if (each.reason == event.reason) {
        EXPECT_THAT(event.note, MatchesRegex("pod nightly-2-xyz: " + each.note));
      }
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(recorded->counted, counted);
}

// What happened to the run, from the case only.
void FaultTrial::judge_events(int exit_code) const {
  const std::string fence = std::to_string(fence_of("outcome"));
  const std::string exit = "; exit code " + std::to_string(exit_code);
  const std::string time = "[0-9.]+(ms|s)";
  ExpectedEvent event;
  if (case_.exit_code == kStoreDown) {
    event = {"Warning", "StoreDown",
             "not started because the store was unavailable .*; retried for " + time};
  } else if (case_.exit_code == kLost) {
    event = {"Warning", "Lost",
             "stopped after " + time + " because the lease .*; lock job, fence " + fence};
  } else if (case_.ungated()) {
    event = {"Warning", "RanWithoutLock",
             "ran without a lock because the store was unavailable .*" + exit};
  } else {
    event = {
        "Normal", "Acquired",
        "held lock job for " + time + " after a wait of " + time + " .fence " + fence + "." + exit};
  }
  expect_events(dir_.path("outcome"), exit_code, {event}, case_.exit_code == kStoreDown ? "1" : "");
}

// Of the run that follows: it reports the lease that the first one left.
void FaultTrial::judge_events_of_rival() const {
  std::vector<ExpectedEvent> events = {{"Normal", "Acquired",
                                        "held lock job for .*fence " +
                                            std::to_string(fence_of("rival-outcome")) +
                                            ".; exit code 0"}};
  if (case_.leaves_lease())
    events.push_back(
        {"Warning", "Stolen", "took over lock job, whose last lease had expired unreleased"});
  expect_events(dir_.path("rival-outcome"), 0, events, "");
}

}  // namespace cronlatch::testing
