// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/gated_cronjobs.h"

#include <algorithm>
#include <optional>

#include "core/duration_histogram.h"
#include "metrics/metrics_text.h"

namespace cronlatch::op {
namespace {

constexpr std::string_view kDeadline = "cronlatch_success_deadline_seconds";
constexpr std::string_view kCreated = "cronlatch_cronjob_created_timestamp_seconds";
constexpr std::int64_t kMicro = 1'000'000;
constexpr std::int64_t kJustCreated = 60 * kMicro;

bool same_schedule(const GatedCronJob& a, const GatedCronJob& b) {
  return a.schedule == b.schedule && a.time_zone == b.time_zone;
}

}  // namespace

void GatedCronJobs::set(const std::string& job, GatedCronJob facts, Gated since, WallTime now) {
  const auto known = known_.find(job);
  // A later time of the same lock is that of another annotation: the client that wrote it has one
  // time for all its fields.
  if (known != known_.end() && known->second.facts.lock == facts.lock &&
      known->second.facts.gated.us > 0)
    facts.gated = std::min(facts.gated, known->second.facts.gated);
  if (known != known_.end() && known->second.facts == facts) return;
  // One that was annotated within a minute of its creation counts from its creation.
  const bool is_new = now.us - facts.created.us < kJustCreated;
  WallTime from = since == Gated::now && !is_new ? now : WallTime{};
  if (known != known_.end())
    from = same_schedule(known->second.facts, facts) ? known->second.from : now;
  known_.insert_or_assign(job, Known{facts, from, SuccessDeadline(facts, from, zones_)});
}

bool GatedCronJobs::remove(const std::string& job) { return known_.erase(job) != 0; }

const std::string* GatedCronJobs::find(const std::string& job, const std::string& lock) const {
  const auto known = known_.find(job);
  return known == known_.end() || known->second.facts.lock != lock ? nullptr : &known->first;
}

std::string GatedCronJobs::lock_of(const std::string& job) const {
  const auto known = known_.find(job);
  return known == known_.end() ? "" : known->second.facts.lock;
}

void GatedCronJobs::each(
    const std::function<void(const std::string& job, const std::string& lock)>& take) const {
  for (const auto& [job, known] : known_) take(job, known.facts.lock);
}

void GatedCronJobs::append_text(std::string& out, const CountersByJob& counters) {
  if (known_.empty()) return;
  static const Counters kNone;
  const auto of = [&](const std::string& job) -> const Counters& {
    const auto found = counters.find(job);
    return found == counters.end() ? kNone : *found->second;
  };
  append_head(out, kDeadline);
  for (auto& [job, known] : known_) {
    const Counters& of_job = of(job);
    const WallTime success{of_job.get("last_success")};
    const WallTime since = success.us > 0 ? success : known.facts.created;
    const auto usual_run = hold_durations().quantile(of_job, 0.95);
    if (since.us == 0) continue;
    if (const auto due = known.deadline.after(since, usual_run.value_or(Millis(0))))
      append_sample(out, kDeadline, render(SeriesLabels{job, known.facts.lock}),
                    std::to_string((due->us - since.us + kMicro - 1) / kMicro));
  }
  append_head(out, kCreated);
  for (const auto& [job, known] : known_)
    if (known.facts.created.us > 0 && of(job).get("last_success") == 0)
      append_sample(out, kCreated, render(SeriesLabels{job, known.facts.lock}),
                    std::to_string(known.facts.created.us / kMicro));
}

}  // namespace cronlatch::op
