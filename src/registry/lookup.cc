// SPDX-License-Identifier: Apache-2.0
// The cache, the queue and the threads.
#include "registry/lookup.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/rate_budget.h"
#include "registry/lookup_cache.h"

namespace cronlatch::registry {
namespace {

// A waiting caller reads its clock this often: a deadline passes without a notification.
constexpr Millis kPollInterval{50};

}  // namespace

class Lookup::Impl {
 public:
  Impl(Dependencies dependencies, const LookupTiming& timing)
      : deps_(std::move(dependencies)),
        timing_(timing),
        entries_(timing.cache_size),
        budget_(static_cast<double>(timing.reviewed_per_minute)) {}
  ~Impl() { stop(); }

  void start() {
    for (std::size_t i = 0; i < timing_.threads; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }

  void stop() {
    for (std::jthread& thread : threads_) thread.request_stop();
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    threads_.clear();  // joins
  }

  LookupResult find(const LookupRequest& request, TimePoint until, Freshness freshness) {
    const std::string key = cache_key(request);
    std::unique_lock lock(mutex_);
    LookupResult result = cached_or_queued(key, request, {until > deps_.clock.now(), freshness});
    if (result.kind == LookupResult::Kind::known) {
      if (freshness == Freshness::any || !is_being_confirmed(key, request)) return result;
      until = std::min<TimePoint>(until, deps_.clock.now() + timing_.confirm_timeout);
    } else if (result.kind != LookupResult::Kind::pending) {
      return result;
    }
    // A lookup that only a review requests leaves half of the places to others.
    const bool is_reviewed = request.origin == LookupRequest::Origin::reviewed;
    if (waiting_ >= (is_reviewed ? timing_.max_waiting / 2 : timing_.max_waiting)) return result;
    ++waiting_;
    while (!stopped_ && deps_.clock.now() < until) {
      const auto left = std::chrono::ceil<Millis>(until - deps_.clock.now());
      changed_.wait_for(lock, std::min(left, kPollInterval));
      Entry* const entry = entries_.find(key);
      if (entry == nullptr || entry->running) continue;
      result = entry->result();
      result.from_cache = false;
      if (result.kind != LookupResult::Kind::pending) break;
    }
    --waiting_;
    return result;
  }

  bool is_idle() const {
    const std::lock_guard lock(mutex_);
    return queue_.empty() && running_.empty();
  }

 private:
  bool is_stale(const Entry& entry, const LookupRequest& request) const {
    // The content behind a digest never changes.
    return request.image.digest.empty() && deps_.clock.now() - entry.read_at >= timing_.tag_max_age;
  }
  bool is_being_confirmed(const std::string& key, const LookupRequest& request) {
    const Entry* const entry = entries_.find(key);
    return entry != nullptr && entry->running && is_stale(*entry, request);
  }

  struct Caller {
    bool waits;
    Freshness freshness;
  };
  // The cached result; queues a lookup where one is due. With the lock.
  LookupResult cached_or_queued(const std::string& key, const LookupRequest& request,
                                Caller caller) {
    Entry* const entry = &entries_.get(key, request.origin);
    const bool recent_failure = entry->has_failure_at(deps_.clock.now());
    const bool is_due =
        !entry->info || (caller.freshness == Freshness::recent && is_stale(*entry, request));
    if (!entry->running && !recent_failure && is_due) {
      const std::string refusal = reason_not_to_queue(request);
      if (!refusal.empty() && !entry->info) return {LookupResult::Kind::failed, {}, false, refusal};
      if (refusal.empty()) {
        entry->running = true;
        queue_.insert(caller.waits ? queue_.begin() : queue_.end(), request);
        changed_.notify_all();
      }
    }
    if (entry->info || recent_failure) return entry->result();
    return {};
  }

  // "": it may be queued, and is counted.
  std::string reason_not_to_queue(const LookupRequest& request) {
    if (queue_.size() >= timing_.max_queued)
      return "the queue of lookups is full (" + std::to_string(timing_.max_queued) + ")";
    if (request.origin == LookupRequest::Origin::reviewed &&
        !budget_.take(request.namespace_name, deps_.clock.now()))
      return "too many new images were requested within a minute; retry later";
    return "";
  }

  // At most half of the threads query the same registry: a slow one does not block the others.
  std::deque<LookupRequest>::iterator next_allowed() {
    const std::size_t limit = std::max<std::size_t>(1, timing_.threads / 2);
    return std::find_if(queue_.begin(), queue_.end(), [&](const LookupRequest& request) {
      const auto at = running_.find(request.image.registry);
      return at == running_.end() || at->second < limit;
    });
  }

  std::optional<LookupRequest> next() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (const auto at = next_allowed(); at != queue_.end()) {
        LookupRequest request = std::move(*at);
        queue_.erase(at);
        ++running_[request.image.registry];
        return request;
      }
      changed_.wait(lock);
    }
    return std::nullopt;
  }

  void work(const std::stop_token& stop) {
    while (const std::optional<LookupRequest> request = next()) {
      const TimePoint began = deps_.clock.now();
      Result<ImageInfo> info = deps_.query(*request, began + timing_.timeout, stop);
      if (deps_.on_done) deps_.on_done(*request, info, deps_.clock.now() - began);
      store(*request, std::move(info));
      changed_.notify_all();
    }
  }

  void store(const LookupRequest& request, Result<ImageInfo> info) {
    const std::string key = cache_key(request);
    const std::lock_guard lock(mutex_);
    if (--running_[request.image.registry] == 0) running_.erase(request.image.registry);
    Entry* const entry = &entries_.get(key, request.origin);
    entry->running = false;
    if (info) {
      entry->info = std::move(*info);
      entry->read_at = deps_.clock.now();
      entry->failure.reset();
      entry->failures = 0;
    } else {
      entry->failure = info.error().message;
      entry->retry_at =
          deps_.clock.now() + time_to_retry(timing_, ++entry->failures, deps_.random_fraction);
    }
  }

  const Dependencies deps_;
  const LookupTiming timing_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  LookupCache entries_;
  // By namespace, for images that no CronJob in the API server needs: each client that reaches the
  // port can send such a review, in the name of any namespace.
  RateBudget budget_;
  std::deque<LookupRequest> queue_;
  std::map<std::string, std::size_t> running_;  // threads by registry
  std::size_t waiting_ = 0;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

Lookup::Lookup(Dependencies dependencies, const LookupTiming& timing)
    : impl_(std::make_unique<Impl>(std::move(dependencies), timing)) {}
Lookup::~Lookup() = default;
void Lookup::start() { impl_->start(); }
void Lookup::stop() { impl_->stop(); }
LookupResult Lookup::find(const LookupRequest& request, TimePoint until, Freshness freshness) {
  return impl_->find(request, until, freshness);
}
bool Lookup::is_idle() const { return impl_->is_idle(); }

}  // namespace cronlatch::registry
