// SPDX-License-Identifier: Apache-2.0
// The memory store: the rules on a map of records.
#include "store/memory/memory_store.h"

#include <utility>
#include <variant>

namespace cronlatch {

Reply MemoryServer::execute(const Request& request, ServerTime not_after) {
  return std::visit(
      [&](const auto& verb) -> Reply {
        return rules::decide(records_[verb.lock], verb, now(), not_after);
      },
      request);
}

Revoked MemoryServer::revoke(const std::string& lock) {
  return rules::revoke(records_[lock], now());
}

rules::Record MemoryServer::record(const std::string& lock) const {
  const auto at = records_.find(lock);
  return at == records_.end() ? rules::Record{} : at->second;
}

LockView MemoryServer::show(const std::string& lock) const {
  return rules::view(lock, record(lock), now());
}

std::vector<LockView> MemoryServer::list() const {
  std::vector<LockView> known;
  for (const auto& [lock, record] : records_)
    if (record.state != rules::HoldState::none) known.push_back(rules::view(lock, record, now()));
  return known;
}

void MemoryStore::send(const Request& request, TimePoint now) {
  const TimePoint give_up = std::visit([](const auto& verb) { return verb.give_up; }, request);
  pending_ = PendingRequest{request, now, server_.now() + (give_up - now)};
}

void MemoryStore::watch(PollSet& set) const {
  if (pending_) set.wake_by(pending_->at);
}

std::optional<Reply> MemoryStore::step(const PollSet&, TimePoint) {
  if (!pending_) return std::nullopt;
  const PendingRequest pending = *std::exchange(pending_, std::nullopt);
  Reply reply = server_.execute(pending.request, pending.not_after);
  if (auto* granted = std::get_if<Granted>(&reply)) granted->sent_at = pending.at;
  if (auto* renewed = std::get_if<Renewed>(&reply)) renewed->sent_at = pending.at;
  return reply;
}

Result<std::vector<LockView>> MemoryStore::list(TimePoint, std::size_t most) {
  std::vector<LockView> views = server_.list();
  if (views.size() > most) views.resize(most);
  return views;
}

Result<LockView> MemoryStore::show(const std::string& lock, TimePoint) {
  return server_.show(lock);
}

Result<Revoked> MemoryStore::revoke(const std::string& lock, TimePoint) {
  return server_.revoke(lock);
}

}  // namespace cronlatch
