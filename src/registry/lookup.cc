// SPDX-License-Identifier: Apache-2.0
// The memory, the queue and the threads.
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

constexpr Millis kLookAround{50};  // a clock of ours may pass without a notification

std::string key_of(const Question& question) {
  std::string key = question.image.text();
  for (const std::string& arch : question.architectures) key += "\n" + arch;
  if (!question.pull_secrets.empty()) key += "\n@" + question.namespace_name;
  for (const std::string& secret : question.pull_secrets) key += "\n" + secret;
  return key;
}

struct Entry {
  std::optional<Looked> looked;
  TimePoint looked_at{};
  std::optional<std::string> failure;
  TimePoint failed_at{};
  bool under_way = false;
};

}  // namespace

class Lookup::Impl {
 public:
  Impl(Parts parts, const LookupTiming& timing)
      : parts_(std::move(parts)), timing_(timing), entries_(timing.remembered) {}
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

  Told find(const Question& question, TimePoint until) {
    const std::string key = key_of(question);
    std::unique_lock lock(mutex_);
    if (Told told = look(key, question, until > parts_.clock.now());
        told.kind != Told::Kind::not_yet)
      return told;
    if (waiting_ >= timing_.waiting) return {};
    ++waiting_;
    Told told;
    while (told.kind == Told::Kind::not_yet && !stopped_ && parts_.clock.now() < until) {
      const auto left = std::chrono::ceil<Millis>(until - parts_.clock.now());
      changed_.wait_for(lock, std::min(left, kLookAround));
      Entry* const entry = entries_.find(key);
      if (entry == nullptr || entry->under_way) continue;
      told = answer(*entry);
      told.remembered = false;
    }
    --waiting_;
    return told;
  }

 private:
  bool is_old(const Entry& entry, const Question& question) const {
    // What a digest names never changes.
    return question.image.digest.empty() &&
           parts_.clock.now() - entry.looked_at >= timing_.tag_recheck;
  }
  bool failed_lately(const Entry& entry) const {
    return entry.failure && parts_.clock.now() - entry.failed_at < timing_.failure_kept;
  }

  static Told answer(const Entry& entry) {
    if (entry.looked) return {Told::Kind::known, *entry.looked, true};
    if (entry.failure) return {Told::Kind::failed, {}, false, *entry.failure};
    return {};
  }

  // What is known, and a look-up where one is due. With the lock.
  Told look(const std::string& key, const Question& question, bool somebody_waits) {
    Entry* entry = entries_.find(key);
    if (entry == nullptr) entry = &entries_.put(key, Entry{});
    const bool lately = failed_lately(*entry);
    if (!entry->under_way && !lately && (!entry->looked || is_old(*entry, question))) {
      if (queue_.size() >= timing_.queue && !entry->looked)
        return {Told::Kind::failed, {}, false, "too many images are being looked up"};
      if (queue_.size() < timing_.queue) {
        entry->under_way = true;
        if (somebody_waits)
          queue_.push_front(question);
        else
          queue_.push_back(question);
        changed_.notify_all();
      }
    }
    if (entry->looked || lately) return answer(*entry);
    return {};
  }

  // At most half of the threads are at one registry: one that is slow leaves room for the others.
  std::deque<Question>::iterator ready() {
    const std::size_t most = std::max<std::size_t>(1, timing_.threads / 2);
    return std::find_if(queue_.begin(), queue_.end(), [&](const Question& question) {
      const auto at = under_way_.find(question.image.registry);
      return at == under_way_.end() || at->second < most;
    });
  }

  std::optional<Question> next() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (const auto at = ready(); at != queue_.end()) {
        Question question = std::move(*at);
        queue_.erase(at);
        ++under_way_[question.image.registry];
        return question;
      }
      changed_.wait(lock);
    }
    return std::nullopt;
  }

  void work(const std::stop_token& stop) {
    while (const std::optional<Question> question = next()) {
      const TimePoint began = parts_.clock.now();
      Result<Looked> looked = parts_.ask(*question, began + timing_.timeout, stop);
      if (parts_.on_asked) parts_.on_asked(*question, looked, parts_.clock.now() - began);
      remember(*question, std::move(looked));
      changed_.notify_all();
    }
  }

  void remember(const Question& question, Result<Looked> looked) {
    const std::string key = key_of(question);
    const std::lock_guard lock(mutex_);
    if (--under_way_[question.image.registry] == 0) under_way_.erase(question.image.registry);
    Entry* entry = entries_.find(key);
    if (entry == nullptr) entry = &entries_.put(key, Entry{});
    entry->under_way = false;
    if (looked) {
      entry->looked = std::move(*looked);
      entry->looked_at = parts_.clock.now();
      entry->failure.reset();
    } else {
      entry->failure = looked.error().message;
      entry->failed_at = parts_.clock.now();
    }
  }

  const Parts parts_;
  const LookupTiming timing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  image::Lru<Entry> entries_;
  std::deque<Question> queue_;
  std::map<std::string, std::size_t> under_way_;  // by registry
  std::size_t waiting_ = 0;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

Lookup::Lookup(Parts parts, const LookupTiming& timing)
    : impl_(std::make_unique<Impl>(std::move(parts), timing)) {}
Lookup::~Lookup() = default;
void Lookup::start() { impl_->start(); }
void Lookup::stop() { impl_->stop(); }
Told Lookup::find(const Question& question, TimePoint until) {
  return impl_->find(question, until);
}

}  // namespace cronlatch::registry
