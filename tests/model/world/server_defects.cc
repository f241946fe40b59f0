// SPDX-License-Identifier: Apache-2.0
#include "model/world/server_defects.h"

#include "model/world/client.h"
#include "model/world/world.h"

namespace cronlatch::model {

void DefectiveServer::replace(rules::Record record) {
  MemoryServer::Records records = server_.memory_.records();
  records["l"] = std::move(record);
  server_.memory_.restore(std::move(records));
}

Reply DefectiveServer::execute(const Request& request, ServerTime not_after) {
  if (server_.world_.defect == Defect::executes_late) not_after = ServerTime{INT64_MAX};
  if (const Acquire* verb = std::get_if<Acquire>(&request)) return acquire(*verb, not_after);
  if (const Renew* verb = std::get_if<Renew>(&request)) return renew(*verb, not_after);
  return release(std::get<Release>(request), not_after);
}

Reply DefectiveServer::acquire(const Acquire& request, ServerTime not_after) {
  const Defect defect = server_.world_.defect;
  const rules::Record before = server_.record();
  if (defect == Defect::grants_done && server_.time() <= not_after) {
    rules::Record record = edited();
    record.once.clear();
    replace(std::move(record));
  }
  const bool in_time = server_.time() <= not_after;
  if (in_time && (defect == Defect::no_queue || defect == Defect::endless_reservation)) {
    rules::Record record = edited();
    if (defect == Defect::no_queue) record.asked.clear(), record.queue.clear();
    if (record.turn) record.turn->until = server_.time() + rules::kTurn;
    replace(std::move(record));
  }
  const std::string& owner = request.claim.owner;
  if (in_time && defect == Defect::any_waiter_first && before.queue.contains(owner)) {
    rules::Record record = edited();
    std::erase_if(record.queue, [&](const auto& place) { return place.first != owner; });
    record.turn.reset();
    for (rules::Slot& slot : record.more) slot.turn.reset();
    replace(std::move(record));
  }
  if (in_time && defect == Defect::identity_in_two_slots) {
    rules::Record record = edited();
    record.identity.once.clear();
    for (rules::Slot& slot : record.more) slot.identity.once.clear();
    replace(std::move(record));
  }
  if (in_time && defect == Defect::one_holder_too_many && before.more.size() > 0 &&
      before.more.front().claim.owner != request.claim.owner) {
    rules::Record record = edited();
    record.more.front().expires = ServerTime{};
    replace(std::move(record));
  }
  const bool repeated = server_.counted_.contains({request.claim.owner, request.claim.attempt});
  Reply reply = plain(request, not_after);
  if (Busy* busy = std::get_if<Busy>(&reply)) {
    if (defect == Defect::forgets_group_in_reply && repeated) busy->group_granted = false;
    if (defect == Defect::no_clamp) {
      rules::Record record = edited();
      record.expires = std::max(record.expires, before.expires);
      replace(std::move(record));
    }
  }
  if (const TooLate* late = std::get_if<TooLate>(&reply);
      late != nullptr && late->closed && defect == Defect::releases_done_grant)
    release_grant_of(request.claim);
  if (Granted* granted = std::get_if<Granted>(&reply);
      granted != nullptr && defect == Defect::fence_of_slot)
    return with_fence_of_slot(before, request.claim, *granted);
  if (std::holds_alternative<Granted>(reply) && defect == Defect::no_min_hold_of_crash) {
    rules::Record record = edited();
    record.min_hold = Micros{0};
    replace(std::move(record));
  }
  return reply;
}

void DefectiveServer::release_grant_of(const Claim& claim) {
  rules::Record record = edited();
  const auto release = [&](rules::Slot& slot) {
    if (slot.claim != claim || slot.state != rules::HoldState::held) return;
    slot.state = rules::HoldState::free;
    slot.expires = ServerTime{};
    ++record.jobs[slot.identity.job].values["released"];
  };
  release(record);
  for (rules::Slot& slot : record.more) release(slot);
  replace(std::move(record));
}

// The clock alone lets fences rise: a backward step shows the defect.
Reply DefectiveServer::with_fence_of_slot(const rules::Record& before, const Claim& claim,
                                          Granted granted) {
  rules::Record record = edited();
  const std::vector<const rules::Slot*> slot_list = slot_list_of(before);
  std::size_t at = 0;
  for (rules::Slot* slot = &record;; slot = &record.more[at++]) {
    if (slot->claim == claim) {
      const Fence last = at < slot_list.size() ? slot_list[at]->fence : 0;
      if (last == granted.fence) return granted;  // a repeated answer
      granted.fence = slot->fence = std::max(last + 1, static_cast<Fence>(server_.time().us));
      break;
    }
    if (at == record.more.size()) break;
  }
  replace(std::move(record));
  return granted;
}

Reply DefectiveServer::renew(const Renew& request, ServerTime not_after) {
  const Defect defect = server_.world_.defect;
  const rules::Record& before = server_.record();
  if (defect == Defect::older_record_taken && before.fence < request.fence &&
      before.state != rules::HoldState::none)
    return NotHolder{LostReason::taken};
  Reply reply = plain(request, not_after);
  if (defect == Defect::renews_any_owner && std::holds_alternative<NotHolder>(reply))
    return Renewed{};
  return reply;
}

Reply DefectiveServer::release(Release request, ServerTime not_after) {
  const Defect defect = server_.world_.defect;
  if (defect == Defect::releases_any_owner) request.claim = server_.record().claim;
  if (defect == Defect::forgets_ungated_group && request.verdict == RunVerdict::ungated)
    request.identity.group.clear();
  return plain(request, not_after);
}

}  // namespace cronlatch::model
