// SPDX-License-Identifier: Apache-2.0
// One function for each kind of advice; the bounds stand together on top.
#include "advice/advice.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/duration.h"
#include "base/text.h"

namespace cronlatch {
namespace {

constexpr Millis kLongestTtl{3'600'000};  // what the option takes
constexpr std::array<std::string_view, 10> kAnybodysNames = {
    "lock", "cron", "cronjob", "default", "job", "jobs", "main", "mutex", "test", "shared"};

std::string shown(Millis d) {
  // Whole seconds read better than 1d2h3m4s5ms where only the size matters.
  return show_duration(std::max(Millis{1'000}, d / 1'000 * 1'000));
}

std::string annotation(std::string_view key, std::string_view value) {
  return "cronlatch.dev/" + std::string(key) + ": \"" + std::string(value) + '"';
}

std::string times(std::int64_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

// The ledger keeps no history of renewals. What tells that they come too late is a live lease that
// has been waiting for its renewal for long, and leases that ended unrenewed.
void about_ttl(const LockUse& use, std::vector<Advice>& out) {
  if (use.ttl.count() <= 0 || use.ttl >= kLongestTtl) return;
  const std::string longer = annotation("ttl", shown(std::min(use.ttl * 2, kLongestTtl)));
  if (use.unrenewed && *use.unrenewed * 2 > use.ttl && *use.unrenewed < use.ttl) {
    out.push_back({"ttl", use.job, use.lock,
                   "its lease was renewed " + shown(*use.unrenewed) + " ago, of a ttl of " +
                       shown(use.ttl) + "; a renewal is due every third of it",
                   longer});
    return;
  }
  const std::int64_t ended = use.lost + use.stolen;
  if (use.acquired < kFewRuns || ended < 2 || ended * 20 < use.acquired) return;
  out.push_back({"ttl", use.job, use.lock,
                 "its lease ended unrenewed " + times(ended) + " in " +
                     std::to_string(use.acquired) + " grants (" + std::to_string(use.stolen) +
                     " taken over, " + std::to_string(use.lost) + " lost), with a ttl of " +
                     shown(use.ttl) + "; if pods are not killed, the store is away for longer",
                 longer});
}

bool outlasts_its_schedule(const LockUse& use) {
  return use.gap && use.slow_run && *use.slow_run > *use.gap;
}

void about_schedule(const LockUse& use, std::vector<Advice>& out) {
  if (!outlasts_its_schedule(use)) return;
  out.push_back({"schedule", use.job, use.lock,
                 use.slow_run_is + ' ' + shown(*use.slow_run) + ", but it is due every " +
                     shown(*use.gap) + ": the runs in between are skipped",
                 "spec.schedule: every " + shown(*use.slow_run * 3 / 2) + " or less often; or " +
                     annotation("max-run", shown(Millis(*use.gap) * 9 / 10)) +
                     ", which ends long runs"});
}

void about_min_hold(const LockUse& use, std::vector<Advice>& out) {
  if (!use.gap || use.min_hold <= *use.gap) return;
  out.push_back({"min-hold", use.job, use.lock,
                 "min-hold keeps the lock taken for " + shown(use.min_hold) +
                     ", but it is due every " + shown(*use.gap) + ": every other run is skipped",
                 annotation("min-hold", shown(Millis(*use.gap) / 2))});
}

// `shared`: another job uses the lock, too.
void about_skips(const LockUse& use, bool shared, std::vector<Advice>& out) {
  if (use.skipped <= use.acquired || use.skipped + use.acquired < kFewRuns) return;
  const std::string reason =
      "skipped " + times(use.skipped) + " because the lock was held, ran " + times(use.acquired);
  if (shared)
    out.push_back({"skips", use.job, use.lock, reason + "; it shares the lock with others",
                   annotation("lock", "true") + " gives it a lock of its own; or " +
                       annotation("on-busy", "wait") + " if it must run each time"});
  else
    out.push_back({"skips", use.job, use.lock, reason,
                   "spec.schedule: less often; or " + annotation("on-busy", "wait") +
                       " with a cronlatch.dev/wait-timeout if it must run each time"});
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }
std::string first_part(const std::string& name) { return name.substr(0, name.find('/')); }

// Names that people take for the same.
std::string folded(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == '.') c = '-';
    out += c;
  }
  return out;
}

using ByLock = std::map<std::string, std::vector<const LockUse*>>;

std::string others(const std::vector<const LockUse*>& uses, const LockUse& but) {
  std::string list;
  for (const LockUse* use : uses)
    if (use->job != but.job) list += (list.empty() ? "" : ", ") + use->job;
  return list;
}

// A lock that a job names is, letter for letter, another one's own; or it has a name that anybody
// would choose.
void about_shared_names(const ByLock& locks, std::vector<Advice>& out) {
  for (const auto& entry : locks) {
    const std::string& lock = entry.first;
    const std::vector<const LockUse*>& uses = entry.second;
    if (uses.size() < 2) continue;
    for (const LockUse* use : uses) {
      if (use->named.empty() || use->named == "true") continue;
      const auto owner = std::find_if(uses.begin(), uses.end(), [&](const LockUse* other) {
        return other->job != use->job && other->named == "true" && other->job == lock;
      });
      const std::string word = folded(last_part(lock));
      const bool anybodys =
          std::find(kAnybodysNames.begin(), kAnybodysNames.end(), word) != kAnybodysNames.end();
      if (owner != uses.end())
        out.push_back({"name", use->job, lock,
                       "the lock that it names is the own lock of CronJob " + lock,
                       annotation("lock", "true") + ", unless they must exclude each other"});
      else if (anybodys)
        out.push_back({"name", use->job, lock,
                       "it shares the lock with " + others(uses, *use) +
                           " by a name that anybody would choose",
                       annotation("lock", "true") + ", unless they must exclude each other"});
    }
  }
}

void about_similar_names(const ByLock& locks, std::vector<Advice>& out) {
  std::map<std::string, std::vector<std::string>> alike;
  for (const auto& [lock, uses] : locks) alike[folded(lock)].push_back(lock);
  for (const auto& [form, names] : alike) {
    for (std::size_t i = 1; i < names.size(); ++i) {
      const auto& uses = locks.at(names[i]);
      for (const LockUse* use : uses)
        out.push_back(
            {"name", use->job, names[i],
             "another lock is called " + names[0] +
                 ", which differs only by case, dash, dot or underscore: they do not "
                 "exclude each other",
             annotation("lock", last_part(names[0])) +
                 (first_part(names[0]) == "_cluster" ? ", " + annotation("lock-scope", "cluster")
                                                     : std::string()) +
                 ", if they are meant to be one"});
    }
  }
}

}  // namespace

std::vector<Advice> advise(const std::vector<LockUse>& uses) {
  ByLock locks;
  for (const LockUse& use : uses) locks[use.lock].push_back(&use);
  std::vector<Advice> out;
  for (const LockUse& use : uses) {
    about_ttl(use, out);
    about_schedule(use, out);
    about_min_hold(use, out);
    // Said already, with its cause.
    if (!outlasts_its_schedule(use)) about_skips(use, locks[use.lock].size() > 1, out);
  }
  about_shared_names(locks, out);
  about_similar_names(locks, out);
  std::stable_sort(out.begin(), out.end(), [](const Advice& a, const Advice& b) {
    return std::tie(a.job, a.lock, a.about) < std::tie(b.job, b.lock, b.about);
  });
  return out;
}

}  // namespace cronlatch
