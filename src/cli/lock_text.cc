// SPDX-License-Identifier: Apache-2.0
#include "cli/lock_text.h"

#include <algorithm>

#include "base/duration.h"
#include "base/text.h"
#include "core/lock_json.h"
#include "options/options.h"

namespace cronlatch {
namespace {

// Options have at most 200 bytes; another program may have written more.
constexpr std::size_t kShown = 256;

std::string shown(std::string_view text) { return printable(text, kShown); }

std::string holders(const LockView& view) {
  const std::string holder = when_granted(view, shown(view.identity.holder));
  // An expired grant beside a live one is no holder.
  const auto alike =
      std::count_if(view.grants.begin(), view.grants.end(),
                    [&](const GrantView& grant) { return grant.state == view.state; });
  if (alike < 2) return holder;
  return holder + " and " + std::to_string(alike - 1) + " more";
}

Row lock_row(const LockView& view) {
  return {view.lock,
          state_text(view),
          holders(view),
          when_granted(view, show_time(view.acquired)),
          expiry_of(view),
          fence_of(view),
          std::to_string(sum_of(view, "acquired")),
          std::to_string(sum_of(view, "skipped_held") + sum_of(view, "skipped_done")),
          std::to_string(sum_of(view, "stolen")),
          std::to_string(sum_of(view, "lost")),
          view.waiters ? std::to_string(*view.waiters) : ""};
}

std::string grants_table(const LockView& view) {
  std::vector<Row> rows = {{"  STATE", "HOLDER", "JOB", "SINCE", "EXPIRES", "FENCE"}};
  for (const GrantView& grant : view.grants)
    rows.push_back({"  " + std::string(name_of(grant.state)), shown(grant.identity.holder),
                    shown(grant.identity.job), show_time(grant.acquired), show_time(grant.expires),
                    std::to_string(grant.fence)});
  return render_table(rows);
}

}  // namespace

std::string quarantine_text(Micros remaining) {
  if (remaining.count() <= 0) return "no quarantine";
  return "quarantine: the store grants no lock for " +
         rounded_duration(std::chrono::ceil<Millis>(remaining));
}

std::string locks_table(const std::vector<LockView>& views) {
  std::vector<Row> rows = {{"LOCK", "STATE", "HOLDER", "SINCE", "EXPIRES", "FENCE", "ACQUIRED",
                            "SKIPPED", "STOLEN", "LOST", "WAITING"}};
  for (const LockView& view : views) rows.push_back(lock_row(view));
  return render_table(rows);
}

std::vector<Row> grant_rows(const LockView& view) {
  std::vector<Row> rows = {{"state", state_text(view)}};
  const auto add = [&](std::string key, std::string value) {
    if (!value.empty()) rows.push_back({std::move(key), std::move(value)});
  };
  add(granted(view) ? "holder" : "last holder", shown(view.identity.holder));
  if (view.pid != 0) add("pid", std::to_string(view.pid));
  add("job", shown(view.identity.job));
  add(granted(view) ? "since" : "last acquired", show_time(view.acquired));
  add(view.state == LockState::cooling ? "closed until" : "expires", expiry_of(view));
  if (view.state == LockState::expired) add("closed until", show_time(view.closed_until()));
  add("fence", fence_of(view));
  return rows;
}

std::string lock_page(const LockView& view) {
  std::vector<Row> rows = {{"lock", view.lock}};
  for (Row& row : grant_rows(view)) rows.push_back(std::move(row));
  if (view.waiters) rows.push_back({"runs waiting", std::to_string(*view.waiters)});
  if (view.attempt != 0) rows.push_back({"attempt", std::to_string(view.attempt)});
  if (view.ttl.count() > 0) rows.push_back({"ttl", show_duration(view.ttl)});
  if (!view.identity.group.empty()) rows.push_back({"attempt group", shown(view.identity.group)});
  if (!view.identity.once.empty()) rows.push_back({"once-per", shown(view.identity.once)});
  std::string page = render_table(rows);
  if (!view.grants.empty()) page += "\ngrants\n" + grants_table(view);
  for (const auto& [job, counters] : view.jobs) {
    page += job.empty() ? "\ncounters\n" : "\ncounters of job " + shown(job) + '\n';
    std::vector<Row> counts;
    for (const std::string_view name : kCounterNames) {
      const std::int64_t value = counters.get(name);
      counts.push_back(
          {"  " + std::string(name), is_time(name) ? show_time({value}) : std::to_string(value)});
    }
    page += render_table(counts);
  }
  return page;
}

}  // namespace cronlatch
