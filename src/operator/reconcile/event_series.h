// SPDX-License-Identifier: Apache-2.0
// EventSeries: which occurrences become requests. The first occurrence of a reason on an object
// creates an Event, and those of the next hour raise its count. Three limits apply: of the reason
// on the object, of the namespace, and of all. An occurrence beyond a limit is not written at once;
// the next one that is written includes it in its count. Each group of reasons
// (labels/event_reasons.h) has limits of its own. Pure; not thread-safe.
//
// Memory: at most kMaxCronJobs + kMaxOthers entries (about 400 bytes each, by estimate); the least
// recently used one is forgotten, and its next occurrence is a new Event.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/lru.h"
#include "base/time.h"
#include "kube/events.h"
#include "labels/event_reasons.h"
#include "operator/reconcile/token_bucket.h"

namespace cronlatch::op {

class EventSeries {
 public:
  // As EventCorrelator of client-go (tools/record/events_cache.go: defaultSpamBurst,
  // defaultSpamQPS), but for each reason of the object.
  static constexpr Rate kOfObject{1.0 / 300, 25};
  // The burst of the other limits: the Events of this many seconds.
  static constexpr double kBurstSeconds = 200;
  // The part of all Events that one namespace may have.
  static constexpr double kPartOfNamespace = 0.5;
  // The API server keeps Events for so long by default (--event-ttl). A longer series would hide
  // the notes of its occurrences for longer than separate Events.
  static constexpr Millis kLength{3'600'000};
  static constexpr std::size_t kMaxCronJobs = 16'384;
  static constexpr std::size_t kMaxOthers = 4'096;  // maxLruCacheEntries of client-go
  static constexpr std::size_t kMaxNamespaces = 4'096;

  explicit EventSeries(double per_second);

  // A request to send: creates the Event, or sets the count of one that exists.
  struct Write {
    kube::Event event;
    std::string name;
    unsigned count;
    bool exists;
  };
  enum class Limit { object, namespace_, all };
  // Nothing to send: the occurrence is written already, or the request in progress includes it.
  struct Included {};
  using Plan = std::variant<Write, Limit, Included>;

  // A repeated call for the same identity counts once.
  Plan occurred(const kube::Event& event, TimePoint now);

  enum class Answer {
    written,
    exists,   // the creation was answered with 409
    missing,  // there is no Event of that name (any more)
    refused,  // a repetition has the same answer
    failed,   // the caller calls occurred() again later
  };
  // After the answer to `write`. The next request is for occurrences since, or because the Event
  // did not exist, or did.
  Plan answered(const Write& write, Answer answer, TimePoint now);

 private:
  static constexpr std::size_t kRemembered = 4;  // identities; later ones may be counted again
  struct Entry {
    TokenBucket bucket{};
    TimePoint began{};
    std::string name{};
    std::array<std::uint64_t, kRemembered> identities{};
    std::uint32_t remembered = 0, count = 0, written = 0;
    bool exists = false, is_busy = false;
    std::unique_ptr<kube::Event> next{};  // the newest occurrence since the request in progress
  };
  using Buckets = std::array<TokenBucket, 3>;  // by group

  static std::string key_of(const kube::Event& event);
  Lru<Entry>& entries_of(const kube::Event& event);
  Entry& entry_of(const kube::Event& event, TimePoint now);
  bool counts(Entry& entry, const kube::Event& event) const;
  std::optional<Limit> exceeded(Entry& entry, const kube::Event& event, TimePoint now);
  Write begin(Entry& entry, const kube::Event& event);
  Buckets& namespace_buckets(const std::string& name);

  const Rate all_, of_namespace_;
  Lru<Entry> cronjobs_{kMaxCronJobs}, others_{kMaxOthers};
  Lru<Buckets> namespaces_{kMaxNamespaces};
  Buckets total_;
};

}  // namespace cronlatch::op
