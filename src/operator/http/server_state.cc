// SPDX-License-Identifier: Apache-2.0
#include "operator/http/server_state.h"

#include <algorithm>

namespace cronlatch::op::http {

void HttpServerState::add(const std::shared_ptr<HttpConnection>& connection) {
  const std::lock_guard lock(mutex_);
  open_.emplace(connection.get(), connection);
}

void HttpServerState::remove(HttpConnection* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
  if (open_.empty()) changed_.notify_all();
}

std::size_t HttpServerState::open_count() {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

std::vector<std::shared_ptr<HttpConnection>> HttpServerState::all_open() {
  std::vector<std::shared_ptr<HttpConnection>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(open_.size());
  for (const auto& [raw, weak] : open_) {
    if (auto connection = weak.lock()) all.push_back(std::move(connection));
  }
  return all;
}

bool HttpServerState::wait_until_none(Millis limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return open_.empty(); });
}

void HttpServerState::close_longest_waiting() {
  auto all = all_open();
  const std::size_t some = std::min(all.size(), limits.connections / 8 + 1);
  const auto longest_first = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::vector<std::pair<SteadyTime, HttpConnection*>> waiting;
  waiting.reserve(all.size());
  for (const auto& connection : all) {
    waiting.emplace_back(connection->waiting_since(), connection.get());
  }
  std::partial_sort(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(some),
                    waiting.end(), longest_first);
  for (std::size_t i = 0; i < some && waiting[i].first != SteadyTime::max(); ++i) {
    waiting[i].second->close_now();
  }
}

bool HttpServerState::may_warn() {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  if (now < next_warning_) return false;
  next_warning_ = now + kWarnInterval;
  return true;
}

}  // namespace cronlatch::op::http
