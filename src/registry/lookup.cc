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

#include "base/lru.h"

namespace cronlatch::registry {
namespace {

// A waiting caller reads its clock this often: a deadline passes without a notification.
constexpr Millis kPollInterval{50};

std::string cache_key(const LookupRequest& request) {
  std::string key = request.image.text();
  for (const std::string& arch : request.architectures) key += "\n" + arch;
  if (!request.pull_secrets.empty()) key += "\n@" + request.namespace_name;
  for (const std::string& secret : request.pull_secrets) key += "\n" + secret;
  return key;
}

struct Entry {
  std::optional<ImageInfo> info;
  TimePoint read_at{};
  std::optional<std::string> failure;
  TimePoint failed_at{};
  bool running = false;  // queued, or on a thread
};

}  // namespace

class Lookup::Impl {
 public:
  Impl(Dependencies dependencies, const LookupTiming& timing)
      : deps_(std::move(dependencies)), timing_(timing), entries_(timing.cache_size) {}
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

  LookupResult find(const LookupRequest& request, TimePoint until) {
    const std::string key = cache_key(request);
    std::unique_lock lock(mutex_);
    if (LookupResult result = cached_or_queued(key, request, until > deps_.clock.now());
        result.kind != LookupResult::Kind::pending)
      return result;
    if (waiting_ >= timing_.max_waiting) return {};
    ++waiting_;
    LookupResult result;
    while (result.kind == LookupResult::Kind::pending && !stopped_ && deps_.clock.now() < until) {
      const auto left = std::chrono::ceil<Millis>(until - deps_.clock.now());
      changed_.wait_for(lock, std::min(left, kPollInterval));
      Entry* const entry = entries_.find(key);
      if (entry == nullptr || entry->running) continue;
      result = result_of(*entry);
      result.from_cache = false;
    }
    --waiting_;
    return result;
  }

 private:
  bool is_stale(const Entry& entry, const LookupRequest& request) const {
    // The content behind a digest never changes.
    return request.image.digest.empty() && deps_.clock.now() - entry.read_at >= timing_.tag_max_age;
  }
  bool has_recent_failure(const Entry& entry) const {
    return entry.failure && deps_.clock.now() - entry.failed_at < timing_.failure_max_age;
  }

  static LookupResult result_of(const Entry& entry) {
    if (entry.info) return {LookupResult::Kind::known, *entry.info, true};
    if (entry.failure) return {LookupResult::Kind::failed, {}, false, *entry.failure};
    return {};
  }

  // The cached result; queues a lookup where one is due. With the lock.
  LookupResult cached_or_queued(const std::string& key, const LookupRequest& request,
                                bool caller_waits) {
    Entry* entry = entries_.find(key);
    if (entry == nullptr) entry = &entries_.put(key, Entry{});
    const bool recent_failure = has_recent_failure(*entry);
    if (!entry->running && !recent_failure && (!entry->info || is_stale(*entry, request))) {
      if (queue_.size() >= timing_.max_queued && !entry->info)
        return {LookupResult::Kind::failed, {}, false, queue_is_full()};
      if (queue_.size() < timing_.max_queued) {
        entry->running = true;
        if (caller_waits)
          queue_.push_front(request);
        else
          queue_.push_back(request);
        changed_.notify_all();
      }
    }
    if (entry->info || recent_failure) return result_of(*entry);
    return {};
  }

  std::string queue_is_full() const {
    return "the queue of lookups is full (" + std::to_string(timing_.max_queued) + ")";
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
    Entry* entry = entries_.find(key);
    if (entry == nullptr) entry = &entries_.put(key, Entry{});
    entry->running = false;
    if (info) {
      entry->info = std::move(*info);
      entry->read_at = deps_.clock.now();
      entry->failure.reset();
    } else {
      entry->failure = info.error().message;
      entry->failed_at = deps_.clock.now();
    }
  }

  const Dependencies deps_;
  const LookupTiming timing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Lru<Entry> entries_;
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
LookupResult Lookup::find(const LookupRequest& request, TimePoint until) {
  return impl_->find(request, until);
}

}  // namespace cronlatch::registry
