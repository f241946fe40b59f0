// SPDX-License-Identifier: Apache-2.0
#include "store/file/slots.h"

#include <algorithm>
#include <utility>

namespace cronlatch::file {
namespace {

using rules::HoldState;

void swap_grants(Stored& stored, SlotGrant& grant) {
  rules::Record& record = stored.record;
  std::swap(record.state, grant.state);
  std::swap(record.claim, grant.claim);
  std::swap(record.identity, grant.identity);
  std::swap(record.fence, grant.fence);
  std::swap(record.stole, grant.stole);
  std::swap(record.acquired, grant.acquired);
  std::swap(record.expires, grant.expires);
  std::swap(record.ttl, grant.ttl);
  std::swap(record.min_hold, grant.min_hold);
  std::swap(stored.pid, grant.pid);
  std::swap(stored.pid_namespace, grant.pid_namespace);
}

// The file store revokes only grants whose holders have ended.
bool has_ended(HoldState state) {
  return state == HoldState::none || state == HoldState::free || state == HoldState::revoked;
}

}  // namespace

OpenSlot::OpenSlot(Stored& stored, unsigned slot)
    : stored_(stored), slot_(slot), grant_(grant_of(stored, slot)) {
  if (slot_ != 1) swap_grants(stored_, grant_);
}

OpenSlot::~OpenSlot() {
  stored_.last_fence = stored_.slots == 1 ? 0 : std::max(stored_.last_fence, stored_.record.fence);
  if (slot_ == 1) return;
  swap_grants(stored_, grant_);
  if (has_ended(grant_.state))
    stored_.others.erase(slot_);
  else
    stored_.others[slot_] = std::move(grant_);
}

SlotGrant grant_of(const Stored& stored, unsigned slot) {
  if (slot != 1) {
    const auto at = stored.others.find(slot);
    return at == stored.others.end() ? SlotGrant{} : at->second;
  }
  const rules::Record& r = stored.record;
  return {r.state,    r.claim,    r.identity,          r.fence,
          r.stole,    r.acquired, r.expires,           r.ttl,
          r.min_hold, stored.pid, stored.pid_namespace};
}

std::optional<unsigned> slot_of(const Stored& stored, const Claim& claim) {
  if (stored.record.state != HoldState::none && stored.record.claim == claim) return 1;
  for (const auto& [slot, grant] : stored.others)
    if (grant.claim == claim) return slot;
  return std::nullopt;
}

bool is_closed(const SlotGrant& grant, const std::string& group, ServerTime now) {
  if (!group.empty() && grant.identity.group == group) return false;
  if (grant.state == HoldState::cooling) return now < std::min(grant.expires, now + grant.ttl);
  return grant.state == HoldState::held && now < std::min(grant.acquired, now) + grant.min_hold;
}

Reply decide_in_slot(Stored& stored, unsigned slot, const Acquire& request, ServerTime now,
                     ServerTime not_after, rules::Expiry expiry) {
  const OpenSlot open(stored, slot);
  rules::Record& record = stored.record;
  const bool is_repeated = record.state == HoldState::held && record.claim == request.claim;
  Acquire of_slot = request;
  of_slot.slots = 1;
  Reply reply = rules::decide(record, of_slot, now, not_after, expiry, rules::Waiting::unordered);
  auto* const granted = std::get_if<Granted>(&reply);
  if (granted == nullptr || is_repeated || stored.slots == 1) return reply;
  record.fence = std::max(record.fence, stored.last_fence + 1);
  granted->fence = record.fence;
  return reply;
}

bool is_unused(const Stored& stored) {
  return stored.others.empty() && has_ended(stored.record.state);
}

void set_slots(Stored& stored, unsigned slots) {
  for (const auto& [slot, grant] : stored.others)
    if (grant.state == HoldState::held) ++stored.record.jobs[grant.identity.job].values["stolen"];
  stored.others.clear();
  stored.record.fence = std::max(stored.record.fence, stored.last_fence);
  stored.last_fence = slots == 1 ? 0 : stored.record.fence;
  stored.slots = slots;
}

}  // namespace cronlatch::file
