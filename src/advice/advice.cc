// SPDX-License-Identifier: Apache-2.0
// One function for each kind of advice.
#include "advice/advice.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/duration.h"
#include "base/text.h"

namespace cronlatch {
namespace {

constexpr std::array<std::string_view, 10> kCommonNames = {
    "lock", "cron", "cronjob", "default", "job", "jobs", "main", "mutex", "test", "shared"};

// In whole seconds, at least one.
std::string text_of(Millis d) { return show_duration(std::max(Millis{1'000}, d / 1'000 * 1'000)); }

std::string annotation(std::string_view key, std::string_view value) {
  return "cronlatch.dev/" + std::string(key) + ": \"" + std::string(value) + '"';
}

std::string times(std::int64_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

// The lock statistics contain no history of renewals. A late renewal is visible in the age of a
// live lease, and in leases that ended without renewal.
void advise_ttl(const LockUse& use, std::vector<Advice>& out) {
  if (use.ttl.count() <= 0 || use.ttl >= use.max_ttl) return;
  const std::string longer = annotation("ttl", text_of(std::min(use.ttl * 2, use.max_ttl)));
  if (use.since_renewal && *use.since_renewal * 2 > use.ttl && *use.since_renewal < use.ttl) {
    out.push_back({"ttl", use.job, use.lock,
                   "its lease was renewed " + text_of(*use.since_renewal) + " ago, of a ttl of " +
                       text_of(use.ttl) + "; a renewal is due every third of it",
                   longer});
    return;
  }
  const std::int64_t ended = use.lost + use.stolen;
  if (use.acquired < kMinRuns || ended < 2 || ended * 20 < use.acquired) return;
  out.push_back({"ttl", use.job, use.lock,
                 "its lease ended without renewal " + times(ended) + " in " +
                     std::to_string(use.acquired) + " grants (" + std::to_string(use.stolen) +
                     " acquired by another run, " + std::to_string(use.lost) +
                     " lost), with a ttl of " + text_of(use.ttl) +
                     "; unless pods were killed, the store was unavailable for longer",
                 longer});
}

bool is_longer_than_its_interval(const LockUse& use) {
  return use.gap && use.slow_run && *use.slow_run > *use.gap;
}

void advise_schedule(const LockUse& use, std::vector<Advice>& out) {
  if (!is_longer_than_its_interval(use)) return;
  out.push_back({"schedule", use.job, use.lock,
                 use.slow_run_label + ' ' + text_of(*use.slow_run) + ", but a run is due every " +
                     text_of(*use.gap) + ": runs in that time are skipped",
                 "spec.schedule: every " + text_of(*use.slow_run * 3 / 2) + " or less often; or " +
                     annotation("max-run", text_of(Millis(*use.gap) * 9 / 10)) +
                     ", which terminates long runs"});
}

void advise_min_hold(const LockUse& use, std::vector<Advice>& out) {
  if (!use.gap || use.min_hold <= *use.gap) return;
  out.push_back({"min-hold", use.job, use.lock,
                 "min-hold keeps the lock closed for " + text_of(use.min_hold) +
                     ", but a run is due every " + text_of(*use.gap) +
                     ": every other run is skipped",
                 annotation("min-hold", text_of(Millis(*use.gap) / 2))});
}

// `shared`: another job also uses the lock.
void advise_skips(const LockUse& use, bool shared, std::vector<Advice>& out) {
  if (use.skipped <= use.acquired || use.skipped + use.acquired < kMinRuns) return;
  const std::string reason =
      "skipped " + times(use.skipped) + " because the lock was held, ran " + times(use.acquired);
  if (shared)
    out.push_back({"skips", use.job, use.lock, reason + "; other jobs share the lock",
                   annotation("lock", "true") + " gives it a lock of its own; or " +
                       annotation("on-busy", "wait") + " if every run must start"});
  else
    out.push_back({"skips", use.job, use.lock, reason,
                   "spec.schedule: less often; or " + annotation("on-busy", "wait") +
                       " with a cronlatch.dev/wait-timeout if every run must start"});
}

std::string last_segment(const std::string& name) { return name.substr(name.rfind('/') + 1); }
std::string first_segment(const std::string& name) { return name.substr(0, name.find('/')); }

// Equal for names that differ only by case, dash, dot or underscore.
std::string normalized(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == '.') c = '-';
    out += c;
  }
  return out;
}

using ByLock = std::map<std::string, std::vector<const LockUse*>>;

std::string other_jobs(const std::vector<const LockUse*>& uses, const LockUse& but) {
  std::string list;
  for (const LockUse* use : uses)
    if (use->job != but.job) list += (list.empty() ? "" : ", ") + use->job;
  return list;
}

// The requested lock is identical to another CronJob's own lock, or is shared under a common name.
void advise_shared_names(const ByLock& locks, std::vector<Advice>& out) {
  for (const auto& entry : locks) {
    const std::string& lock = entry.first;
    const std::vector<const LockUse*>& uses = entry.second;
    if (uses.size() < 2) continue;
    for (const LockUse* use : uses) {
      if (use->requested_name.empty() || use->requested_name == "true") continue;
      const auto owner = std::find_if(uses.begin(), uses.end(), [&](const LockUse* other) {
        return other->job != use->job && other->requested_name == "true" && other->job == lock;
      });
      const std::string word = normalized(last_segment(lock));
      const bool is_common =
          std::find(kCommonNames.begin(), kCommonNames.end(), word) != kCommonNames.end();
      if (owner != uses.end())
        out.push_back({"name", use->job, lock,
                       "the lock that it requests is the own lock of CronJob " + lock,
                       annotation("lock", "true") + ", unless they must exclude each other"});
      else if (is_common)
        out.push_back(
            {"name", use->job, lock,
             "it shares the lock with " + other_jobs(uses, *use) + " under a very common name",
             annotation("lock", "true") + ", unless they must exclude each other"});
    }
  }
}

void advise_similar_names(const ByLock& locks, std::vector<Advice>& out) {
  std::map<std::string, std::vector<std::string>> names_by_form;
  for (const auto& [lock, uses] : locks) names_by_form[normalized(lock)].push_back(lock);
  for (const auto& [form, names] : names_by_form) {
    for (std::size_t i = 1; i < names.size(); ++i) {
      const auto& uses = locks.at(names[i]);
      for (const LockUse* use : uses)
        out.push_back(
            {"name", use->job, names[i],
             "another lock has the name " + names[0] +
                 ", which differs only by case, dash, dot or underscore: they do not "
                 "exclude each other",
             annotation("lock", last_segment(names[0])) +
                 (first_segment(names[0]) == "_cluster" ? ", " + annotation("lock-scope", "cluster")
                                                        : std::string()) +
                 ", if both are meant to be one lock"});
    }
  }
}

}  // namespace

std::vector<Advice> advise(const std::vector<LockUse>& uses) {
  ByLock locks;
  for (const LockUse& use : uses) locks[use.lock].push_back(&use);
  std::vector<Advice> out;
  for (const LockUse& use : uses) {
    advise_ttl(use, out);
    advise_schedule(use, out);
    advise_min_hold(use, out);
    // advise_schedule reports the cause of these skips.
    if (!is_longer_than_its_interval(use)) advise_skips(use, locks[use.lock].size() > 1, out);
  }
  advise_shared_names(locks, out);
  advise_similar_names(locks, out);
  std::stable_sort(out.begin(), out.end(), [](const Advice& a, const Advice& b) {
    return std::tie(a.job, a.lock, a.about) < std::tie(b.job, b.lock, b.about);
  });
  return out;
}

}  // namespace cronlatch
