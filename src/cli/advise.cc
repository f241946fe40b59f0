// SPDX-License-Identifier: Apache-2.0
// `cronlatch advise`: recommended settings from the lock statistics. They do not contain the
// schedule: --schedule gives it for the lock that --lock names.
#include "advice/advice.h"

#include "base/json_object.h"
#include "cli/session.h"
#include "cron/cron_schedule.h"

namespace cronlatch {
namespace {

std::vector<LockUse> uses_of(const std::vector<LockView>& views) {
  std::vector<LockUse> uses;
  for (const LockView& view : views)
    for (const auto& [job, counters] : view.jobs) uses.push_back(use_of(view, job, counters));
  return uses;
}

// The settings of the lock that only the command line contains.
Status add_configuration(const LoadedOptions& loaded, const Clock& clock,
                         std::vector<LockUse>& uses) {
  const auto schedule = loaded.extras.find(kSchedule);
  std::optional<Seconds> gap;
  if (schedule != loaded.extras.end()) {
    const auto parsed = parse_cron(schedule->second);
    if (!parsed) return parsed.error();
    gap = shortest_gap(*parsed, Zone{}, clock.wall());
  }
  for (LockUse& use : uses) {
    use.gap = gap;
    use.min_hold = loaded.options.min_hold;
  }
  return Done{};
}

std::string json_of(const std::vector<Advice>& advice) {
  std::vector<std::string> objects;
  for (const Advice& one : advice)
    objects.push_back(JsonObject()
                          .text("about", one.about)
                          .text_or_null("job", one.job)
                          .text("lock", one.lock)
                          .text("reason", one.reason)
                          .text("set", one.set)
                          .str());
  return json_array(objects) + '\n';
}

std::string text_of(const std::vector<Advice>& advice, std::size_t locks) {
  if (advice.empty())
    return "no recommendation for " + std::to_string(locks) + (locks == 1 ? " lock\n" : " locks\n");
  std::vector<Row> rows = {{"LOCK", "JOB", "ABOUT", "REASON", "SET"}};
  for (const Advice& one : advice)
    rows.push_back({one.lock, one.job, one.about, one.reason, one.set});
  return render_table(rows);
}

}  // namespace

Result<CommandOutput> advise_command(const Invocation& invocation) {
  const Result<StoreSession> session = open_session(invocation, Operands::nothing, kAdviseFlags);
  if (!session) return session.error();
  const std::string& lock = session->loaded.options.lock;
  if (lock.empty() && session->loaded.extras.contains(kSchedule))
    return Error{Code::usage, "--schedule needs --lock",
                 "name the lock that has this schedule with --lock"};
  const Result<std::vector<LockView>> views = session->store->list(session->give_up);
  if (!views) return views.error();
  std::vector<LockUse> uses = uses_of(*views);
  if (const auto strict = strict_settings(session->loaded.options))
    for (LockUse& use : uses) use.max_ttl = strict->max_ttl;
  if (!lock.empty()) {
    std::erase_if(uses, [&](const LockUse& use) { return use.lock != lock; });
    if (const Status added = add_configuration(session->loaded, invocation.clock, uses); !added)
      return added.error();
  }
  const std::vector<Advice> advice = advise(uses);
  return CommandOutput{session->format == Format::table
                           ? text_of(advice, lock.empty() ? views->size() : 1)
                           : json_of(advice)};
}

}  // namespace cronlatch
