// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/event_series.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/digest.h"

namespace cronlatch::op {
namespace {

// A string of this length needs no allocation.
constexpr std::size_t kKeyDigits = 15;

std::size_t group_of(const kube::Event& event) {
  return static_cast<std::size_t>(event_reason(event.reason).group);
}

}  // namespace

EventSeries::EventSeries(double per_second)
    : all_{per_second, per_second * kBurstSeconds},
      of_namespace_{std::max(1.0, all_.per_second * kPartOfNamespace),
                    all_.burst * kPartOfNamespace} {}

std::string EventSeries::key_of(const kube::Event& event) {
  return short_digest(event.regarding.uid + '\n' + std::string(event.reason), kKeyDigits);
}

// Many Jobs must not displace the CronJobs, of which there are few.
Lru<EventSeries::Entry>& EventSeries::entries_of(const kube::Event& event) {
  return event.regarding.kind == "CronJob" ? cronjobs_ : others_;
}

EventSeries::Entry& EventSeries::entry_of(const kube::Event& event, TimePoint now) {
  Lru<Entry>& entries = entries_of(event);
  const std::string key = key_of(event);
  Entry* entry = entries.find(key);
  if (entry == nullptr) entry = &entries.put(key, Entry{.began = now});
  // A request in progress ends first.
  if (!entry->is_busy && (entry->count == 0 || now - entry->began >= kLength)) {
    TokenBucket bucket = entry->bucket;
    *entry = Entry{.bucket = bucket, .began = now, .name = kube::event_name(event)};
  }
  return *entry;
}

// Whether the occurrence is a new one.
bool EventSeries::counts(Entry& entry, const kube::Event& event) const {
  const std::uint64_t identity = std::hash<std::string>{}(event.identity);
  const auto end =
      entry.identities.begin() + std::min<std::uint32_t>(entry.remembered, kRemembered);
  if (std::find(entry.identities.begin(), end, identity) != end) return false;
  entry.identities[entry.remembered++ % kRemembered] = identity;
  return true;
}

EventSeries::Buckets& EventSeries::namespace_buckets(const std::string& name) {
  Buckets* const buckets = namespaces_.find(name);
  return buckets == nullptr ? namespaces_.put(name, {}) : *buckets;
}

// Takes a token of each limit, or none.
std::optional<EventSeries::Limit> EventSeries::exceeded(Entry& entry, const kube::Event& event,
                                                        TimePoint now) {
  TokenBucket& of_namespace = namespace_buckets(event.regarding.namespace_name)[group_of(event)];
  TokenBucket& all = total_[group_of(event)];
  if (!entry.bucket.has_token(kOfObject, now)) return Limit::object;
  if (!of_namespace.has_token(of_namespace_, now)) return Limit::namespace_;
  if (!all.has_token(all_, now)) return Limit::all;
  for (TokenBucket* const bucket : {&entry.bucket, &of_namespace, &all}) bucket->take();
  return std::nullopt;
}

EventSeries::Write EventSeries::begin(Entry& entry, const kube::Event& event) {
  entry.is_busy = true;
  return {event, entry.name, entry.count, entry.exists};
}

EventSeries::Plan EventSeries::occurred(const kube::Event& event, TimePoint now) {
  Entry& entry = entry_of(event, now);
  const bool is_new = counts(entry, event);
  if (is_new && event_reason(event.reason).is_state && !entry.is_busy) {
    // The Event of the previous description stays as it is.
    entry.name = kube::event_name(event);
    entry.identities = {};
    entry.remembered = 0;
    counts(entry, event);
    entry.count = entry.written = 0;
    entry.exists = false;
  }
  if (is_new) ++entry.count;
  if (entry.is_busy) {
    if (is_new) entry.next = std::make_unique<kube::Event>(event);
    return Included{};
  }
  if (entry.written == entry.count) return Included{};
  if (const auto limit = exceeded(entry, event, now)) return *limit;
  return begin(entry, event);
}

EventSeries::Plan EventSeries::answered(const Write& write, Answer answer, TimePoint now) {
  Entry* const entry = entries_of(write.event).find(key_of(write.event));
  // Forgotten, or forgotten and begun again.
  if (entry == nullptr || !entry->is_busy || entry->name != write.name) return Included{};
  entry->is_busy = false;
  const std::unique_ptr<kube::Event> next = std::move(entry->next);
  switch (answer) {
    case Answer::written:
      entry->exists = true;
      entry->written = write.count;
      break;
    case Answer::exists:
      entry->exists = true;
      entry->written = std::max(entry->written, 1U);
      break;
    case Answer::missing:
      entry->exists = false;
      entry->written = 0;
      break;
    case Answer::refused:
      entry->written = write.count;
      break;
    case Answer::failed:
      entry->bucket.give_back();
      namespace_buckets(write.event.regarding.namespace_name)[group_of(write.event)].give_back();
      total_[group_of(write.event)].give_back();
      return Included{};
  }
  if (entry->written == entry->count) return Included{};
  const kube::Event& newest = next == nullptr ? write.event : *next;
  // The rest of the first request has no token of its own.
  const bool is_rest = answer == Answer::exists || answer == Answer::missing;
  if (!is_rest)
    if (const auto limit = exceeded(*entry, newest, now)) return *limit;
  return begin(*entry, newest);
}

}  // namespace cronlatch::op
