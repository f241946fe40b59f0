// SPDX-License-Identifier: Apache-2.0
// A map of bounded size that evicts the least recently used entry. Not thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace cronlatch {

template <class Value>
class Lru {
 public:
  explicit Lru(std::size_t max_size) : max_size_(max_size) {}

  // Valid until the next put(); nullptr when there is no entry.
  Value* find(const std::string& key) {
    const auto at = where_.find(key);
    if (at == where_.end()) return nullptr;
    order_.splice(order_.begin(), order_, at->second);
    return &at->second->second;
  }

  Value& put(const std::string& key, Value value) {
    if (Value* const entry = find(key)) return *entry = std::move(value);
    order_.emplace_front(key, std::move(value));
    where_[key] = order_.begin();
    while (order_.size() > max_size_ && order_.size() > 1) {
      where_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

  std::size_t size() const { return order_.size(); }

 private:
  using Order = std::list<std::pair<std::string, Value>>;
  std::size_t max_size_;
  Order order_;  // the newest first
  std::unordered_map<std::string, typename Order::iterator> where_;
};

}  // namespace cronlatch
