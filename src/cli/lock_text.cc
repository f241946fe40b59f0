// SPDX-License-Identifier: Apache-2.0
#include "cli/lock_text.h"

#include "core/options.h"
#include "core/text.h"

namespace cronlatch {
namespace {

// Kept among the counters, but a moment and no count.
bool is_time(std::string_view counter) { return counter.starts_with("last_"); }

std::int64_t sum_of(const LockView& view, std::string_view counter) {
  std::int64_t sum = 0;
  for (const auto& [job, counters] : view.jobs) sum += counters.get(counter);
  return sum;
}

// Who held a free lock last is history, not state.
bool granted(const LockView& view) {
  switch (view.state) {
    case LockState::held:
    case LockState::expired:
    case LockState::revoked:
      return true;
    case LockState::free:
    case LockState::cooling:
      return false;
  }
  return false;
}

std::string when_granted(const LockView& view, const std::string& text) {
  return granted(view) ? text : "";
}

std::string expiry_of(const LockView& view) {
  return view.state == LockState::free ? "" : show_time(view.expires);
}

std::string fence_of(const LockView& view) {
  return view.fence == 0 ? "" : std::to_string(view.fence);
}

Row lock_row(const LockView& view) {
  return {view.lock,
          std::string(name_of(view.state)),
          when_granted(view, view.who.holder),
          when_granted(view, show_time(view.acquired)),
          expiry_of(view),
          fence_of(view),
          std::to_string(sum_of(view, "acquired")),
          std::to_string(sum_of(view, "skipped_held") + sum_of(view, "skipped_done")),
          std::to_string(sum_of(view, "stolen")),
          std::to_string(sum_of(view, "lost"))};
}

std::string counters_json(const Counters& counters) {
  JsonObject json;
  for (const std::string_view name : kCounterNames) {
    if (is_time(name))
      json.text_or_null(name, show_time({counters.get(name)}));
    else
      json.number(name, counters.get(name));
  }
  return json.str();
}

std::string sums_json(const LockView& view) {
  JsonObject json;
  for (const std::string_view name : kCounterNames)
    if (!is_time(name)) json.number(name, sum_of(view, name));
  return json.str();
}

}  // namespace

std::string_view name_of(LockState state) {
  switch (state) {
    case LockState::free:
      return "free";
    case LockState::held:
      return "held";
    case LockState::expired:
      return "expired";
    case LockState::cooling:
      return "cooling";
    case LockState::revoked:
      return "revoked";
  }
  return "";
}

std::string show_time(ServerTime t) { return t.us == 0 ? "" : rfc3339(WallTime{t.us}); }

std::string locks_table(const std::vector<LockView>& views) {
  std::vector<Row> rows = {{"LOCK", "STATE", "HOLDER", "SINCE", "EXPIRES", "FENCE", "ACQUIRED",
                            "SKIPPED", "STOLEN", "LOST"}};
  for (const LockView& view : views) rows.push_back(lock_row(view));
  return render_table(rows);
}

std::vector<Row> grant_rows(const LockView& view) {
  std::vector<Row> rows = {{"state", std::string(name_of(view.state))}};
  const auto add = [&](std::string key, std::string value) {
    if (!value.empty()) rows.push_back({std::move(key), std::move(value)});
  };
  add(granted(view) ? "holder" : "last holder", view.who.holder);
  if (view.pid != 0) add("pid", std::to_string(view.pid));
  add("job", view.who.job);
  add(granted(view) ? "since" : "last acquired", show_time(view.acquired));
  add(view.state == LockState::cooling ? "closed until" : "expires", expiry_of(view));
  add("fence", fence_of(view));
  return rows;
}

std::string lock_page(const LockView& view) {
  std::vector<Row> rows = {{"lock", view.lock}};
  for (Row& row : grant_rows(view)) rows.push_back(std::move(row));
  if (view.attempt != 0) rows.push_back({"attempt", std::to_string(view.attempt)});
  if (view.ttl.count() > 0) rows.push_back({"ttl", show_duration(view.ttl)});
  if (!view.who.group.empty()) rows.push_back({"attempt group", view.who.group});
  if (!view.who.once.empty()) rows.push_back({"once-per", view.who.once});
  std::string page = render_table(rows);
  for (const auto& [job, counters] : view.jobs) {
    page += job.empty() ? "\ncounters\n" : "\ncounters of job " + printable(job) + '\n';
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

std::string lock_json(const LockView& view) {
  std::vector<std::string> jobs;
  for (const auto& [job, counters] : view.jobs)
    jobs.push_back(JsonObject().text("job", job).json("counters", counters_json(counters)).str());
  JsonObject json;
  json.text("lock", view.lock).text("state", name_of(view.state));
  json.text_or_null("holder", when_granted(view, view.who.holder));
  json.text_or_null("job", when_granted(view, view.who.job));
  json.text_or_null("fence", fence_of(view)).number("attempt", view.attempt);
  json.text_or_null("since", when_granted(view, show_time(view.acquired)));
  json.text_or_null("expires", expiry_of(view)).number("ttl_ms", view.ttl.count());
  json.json("pid", view.pid == 0 ? "null" : std::to_string(view.pid));
  json.json("counters", sums_json(view)).json("jobs", json_array(jobs));
  return json.str();
}

}  // namespace cronlatch
