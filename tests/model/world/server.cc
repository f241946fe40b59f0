// SPDX-License-Identifier: Apache-2.0
#include "model/world/server.h"

#include "model/world/client.h"
#include "model/world/server_defects.h"
#include "model/world/world.h"

namespace cronlatch::model {
namespace {

constexpr Us kStartOfClock = 1'700'000'000 * kSecond;

constexpr const char* kVerbs[] = {"-> acquire", "-> renew", "-> release"};

std::vector<LockHead> heads_of(const rules::Record& record) {
  std::vector<LockHead> heads;
  for (const rules::Slot* slot : slot_list_of(record))
    heads.push_back({slot->state, slot->claim, slot->fence, slot->acquired});
  return heads;
}

std::size_t count_live(const rules::Record& record, ServerTime now) {
  std::size_t live = 0;
  for (const rules::Slot* slot : slot_list_of(record)) {
    const bool lease =
        slot->state == rules::HoldState::held || slot->state == rules::HoldState::revoked;
    if (lease && now < slot->expires) ++live;
  }
  return live;
}

}  // namespace

Server::Server(World& world) : world_(world), memory_([this] { return time(); }) {}

Us Server::elapsed() const {
  return static_cast<Us>(static_cast<double>(world_.now()) * world_.plan.server_rate) +
         stepped_forward_;
}

ServerTime Server::time() const {
  return {kStartOfClock + elapsed() - stepped_forward_ + stepped_};
}

void Server::step_clock(Us by) {
  stepped_ += by;
  stepped_forward_ += std::max<Us>(0, by);
  if (by < 0) world_.seen.add(Case::step_back);
  if (by < 0) world_.checker.moment.stepped_back = true;
  world_.note(0, "clock step", by);
  world_.fact(&Rule::clock_stepped, by);
}

const rules::Record& Server::record() const {
  static const rules::Record none;
  const auto at = memory_.records().find("l");
  return at == memory_.records().end() ? none : at->second;
}

Reply Server::decide(const Request& request, ServerTime not_after) {
  if (world_.defect == Defect::none) return memory_.execute(request, not_after);
  return DefectiveServer(*this).execute(request, not_after);
}

Reply Server::execute(Client& client, const Request& request, ServerTime not_after, bool late) {
  const std::vector<LockHead> before = heads_of(record());
  const std::size_t live_before = count_live(record(), time());
  MemoryServer::Records copy;
  if (armed_ != Loss::none) copy = memory_.records();
  const rules::Record copied = late ? record() : rules::Record{};
  const Acquire* acquire = std::get_if<Acquire>(&request);
  const bool repeated =
      acquire != nullptr && counted_.contains({acquire->claim.owner, acquire->claim.attempt});
  const Reply reply = decide(request, not_after);
  if (const Busy* busy = std::get_if<Busy>(&reply); busy != nullptr && acquire != nullptr) {
    const bool waits = acquire->if_busy == IfBusy::wait ||
                       (acquire->if_busy == IfBusy::skip && busy->group_granted);
    if (busy->reason == BusyReason::done || !waits)
      counted_.insert({acquire->claim.owner, acquire->claim.attempt});
  }
  if (std::holds_alternative<Granted>(reply) || std::holds_alternative<Renewed>(reply))
    client.facts.confirmed_executed = world_.now();
  if (late) world_.seen.add(Case::late);
  count(request, reply, before.front());
  wake(rules::wake_of(reply));
  world_.note(client.facts.id, kVerbs[request.index()], static_cast<std::int64_t>(reply.index()));
  world_.fact(&Rule::executed, Execution{.run = client.facts,
                                         .request = request,
                                         .reply = reply,
                                         .heads_before = before,
                                         .live_before = live_before,
                                         .after = record(),
                                         .late = late,
                                         .changed = late && !(copied == record()),
                                         .repeated = repeated});
  if (armed_ != Loss::none && is_kind(request, reply)) {
    armed_ = Loss::none;
    world_.later(world_.random.between(0, 4 * kSecond),
                 [this, copy = std::move(copy)] { lose(copy, "rolled back"); });
  }
  return reply;
}

// Half of the messages are lost.
void Server::wake(const std::string& owner) {
  if (owner.empty() || world_.random.one_in(2)) return;
  for (const auto& client : world_.clients)
    if (client->facts.owner == owner)
      world_.later(world_.random.between(200, 20 * kMs), [this, waiter = client.get()] {
        world_.seen.add(Case::woken);
        waiter->handle(Woken{});
      });
}

void Server::count(const Request& request, const Reply& reply, const LockHead& before) {
  Seen& seen = world_.seen;
  if (const Granted* granted = std::get_if<Granted>(&reply)) {
    seen.add(Case::granted);
    if (granted->stole) seen.add(Case::stolen);
    if (count_live(record(), time()) > 1) seen.add(Case::two_holders);
  }
  if (const Busy* busy = std::get_if<Busy>(&reply)) {
    seen.add(Case::busy);
    if (busy->reason == BusyReason::done) seen.add(Case::done_busy);
    if (busy->reason == BusyReason::cooling) seen.add(Case::cooling_busy);
    if (busy->reason == BusyReason::queued) seen.add(Case::queued_busy);
    if (busy->group_granted) seen.add(Case::group_waits);
  }
  if (const Renewed* renewed = std::get_if<Renewed>(&reply); renewed && renewed->restored)
    seen.add(before.state == rules::HoldState::none ? Case::restored : Case::restored_older);
  if (const Release* release = std::get_if<Release>(&request); release && release->mark_done)
    seen.add(Case::marked);
}

void Server::revoke() {
  if (record().state == rules::HoldState::held) world_.seen.add(Case::revoked);
  world_.note(0, "revoke");
  if (world_.defect == Defect::revoke_keeps_min_hold &&
      record().state == rules::HoldState::cooling) {
    world_.fact(&Rule::lock_revoked);
    return;
  }
  memory_.revoke("l");
  world_.fact(&Rule::lock_revoked);
}

}  // namespace cronlatch::model
