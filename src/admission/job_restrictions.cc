// SPDX-License-Identifier: Apache-2.0
#include "admission/job_restrictions.h"

#include "admission/reserved_names.h"
#include "base/text.h"

namespace cronlatch::op {
namespace {

// The maximum of the option slots.
constexpr std::int64_t kMaxSlots = 1'000;
// The store keeps the newest 128 finished identities of each job (K6).
constexpr std::int64_t kMaxIndexesOnce = 128;

std::string slots_annotation(std::int64_t slots) {
  return "cronlatch.dev/slots: \"" + std::to_string(slots) + '"';
}

void check_parallelism(const JobView& job, const LockRequest& request, Findings& findings) {
  const std::int64_t parallelism = job.parallelism.value_or(1);
  const std::int64_t slots = request.options.slots;
  if (parallelism <= slots) return;
  const std::string fix =
      parallelism <= kMaxSlots ? "write " + slots_annotation(parallelism) : std::string();
  findings.add(job.origin.path + "spec.parallelism",
               std::to_string(parallelism) + " is above cronlatch.dev/slots, which is " +
                   std::to_string(slots) + ": the pods would wait for each other's lock",
               (fix.empty() ? "" : fix + ", or ") + "set parallelism: " + std::to_string(slots));
}

void check_once(const JobView& job, Findings& findings) {
  if (!job.has_indexed_pods()) {
    findings.add(job.origin.path + "spec.completionMode",
                 "with cronlatch.dev/once-per-schedule the first pod that succeeds would finish "
                 "the scheduled time for all pods",
                 "set completionMode: Indexed, or remove cronlatch.dev/once-per-schedule");
  } else if (job.completions > kMaxIndexesOnce) {
    findings.add(job.origin.path + "spec.completions",
                 std::to_string(*job.completions) + " is above " + std::to_string(kMaxIndexesOnce) +
                     ", which is how many finished pods the store keeps for "
                     "cronlatch.dev/once-per-schedule",
                 "set completions: " + std::to_string(kMaxIndexesOnce) +
                     " or less, or remove cronlatch.dev/once-per-schedule");
  }
}

void check_pods(const JobView& job, const LockRequest& request, Findings& findings) {
  if (!job.has_several_pods()) return;
  check_parallelism(job, request, findings);
  const bool at_once = job.parallelism > 1;
  if (request.options.on_busy == OnBusy::skip)
    findings.add(
        job.origin.path + (at_once ? "spec.parallelism" : "spec.completions"),
        std::to_string(at_once ? *job.parallelism : *job.completions) +
            " is above 1, and cronlatch.dev/on-busy is \"skip\": a skipped pod exits with 0, "
            "which counts as a completion",
        "write cronlatch.dev/on-busy: \"wait\" or \"fail\"");
  if (request.once_per_schedule) check_once(job, findings);
}

void check_windows(const JobView& job, Findings& findings) {
  for (const std::string& field : job.windows_fields)
    findings.add(job.pod_path(field), "windows is not supported: the wrapper is a Linux program",
                 "remove cronlatch.dev/lock");
}

void check_wait_timeout(const JobView& job, const LockRequest& request, Findings& findings) {
  if (!job.active_deadline || request.annotated.count("wait-timeout") == 0) return;
  if (request.options.wait_timeout < *job.active_deadline) return;
  findings.add(job.origin.path + "spec.activeDeadlineSeconds",
               show_duration(*job.active_deadline) +
                   " includes the wait for the lock, so cronlatch.dev/wait-timeout (" +
                   show_duration(request.options.wait_timeout) + ") must be shorter",
               "write for example cronlatch.dev/wait-timeout: \"" +
                   show_duration(max_wait_within(*job.active_deadline)) + "\"");
}

}  // namespace

void check_restrictions(const JobView& job, std::size_t container, const LockRequest& request,
                        const Settings& settings, Findings& findings) {
  check_pods(job, request, findings);
  check_windows(job, findings);
  check_reserved_names(job, container, settings, findings);
  check_wait_timeout(job, request, findings);
  if (job.containers[container].has_post_start)
    findings.add(job.container_path(container) + ".lifecycle.postStart",
                 "the hook would run before the lock is acquired",
                 "move its work to the start of the command");
  if (job.manual_selector)
    findings.add(job.origin.path + "spec.manualSelector",
                 "true: the pods would have no label with the UID of their Job, which identifies "
                 "a retry",
                 "remove manualSelector and selector");
}

Millis max_wait_within(Millis deadline) {
  constexpr Millis kSecond{1'000};
  const Millis half = deadline / 2;
  return half < kSecond ? half : half / kSecond * kSecond;  // whole seconds: easier to read
}

}  // namespace cronlatch::op
