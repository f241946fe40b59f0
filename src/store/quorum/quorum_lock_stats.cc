// SPDX-License-Identifier: Apache-2.0
// The LockStats interface of a quorum: blocking calls, one server after the other, for the
// subcommands and for metrics.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/kernel_clock.h"
#include "store/limit_views.h"
#include "store/quorum/quorum_store.h"
#include "store/redis/wait.h"

namespace cronlatch::quorum {
namespace {

// A server that was not needed for the last decision can still execute its request.
bool wait_until_idle(Voter& voter, TimePoint until) {
  while (!voter.is_idle() && boot_now() < until) {
    PollSet set;
    voter.watch(set);
    set.wake_by(until);
    redis::wait_for_events(set);
    voter.step(set, boot_now());
  }
  return voter.is_idle();
}

Error not_idle() { return {Code::unreachable, "the server has not answered the last request"}; }

std::int64_t sum_of_counters(const LockView& view) {
  std::int64_t sum = 0;
  for (const auto& [job, counters] : view.jobs)
    for (const auto& [name, value] : counters.values) sum += value;
  return sum;
}

// The view with the fence that a majority has, else with the highest fence: a grant that is not
// confirmed yet, or the last one that a server has. Of several, the one that has counted most, and
// no lease that ended because its server missed the renewals.
LockView best_of(const std::vector<LockView>& views, std::size_t needed) {
  const auto rank = [&](const LockView& view) {
    const auto same = std::count_if(views.begin(), views.end(), [&](const LockView& other) {
      return other.fence == view.fence && other.state != LockState::damaged;
    });
    return std::tuple(static_cast<std::size_t>(same) >= needed, view.fence,
                      view.state != LockState::expired, sum_of_counters(view));
  };
  LockView best =
      *std::max_element(views.begin(), views.end(),
                        [&](const LockView& a, const LockView& b) { return rank(a) < rank(b); });
  best.attempt /= QuorumStore::kRounds;
  return best;
}

// As unavailable_of for a request.
Error no_majority_of(const std::vector<ServerState>& states, std::size_t found) {
  const auto needs_user = [](const ServerState& state) {
    return state.error && state.error->code != Code::unreachable;
  };
  const auto finals =
      static_cast<std::size_t>(std::count_if(states.begin(), states.end(), needs_user));
  auto shown = std::find_if(states.begin(), states.end(), needs_user);
  if (shown == states.end())
    shown = std::find_if(states.begin(), states.end(),
                         [](const ServerState& state) { return state.error.has_value(); });
  return {is_final(states.size(), finals) ? shown->error->code : Code::unreachable,
          "only " + std::to_string(found) + " of the quorum's " + std::to_string(states.size()) +
              " servers answered, and " + std::to_string(majority_of(states.size())) +
              " are needed: " + shown->error->message,
          shown->error->hint};
}

}  // namespace

// A server that does not answer uses its share of the time only.
template <class T, class Read>
Result<std::vector<T>> QuorumStore::read_majority(TimePoint give_up, const Read& read) {
  std::vector<T> found;
  states_.clear();
  for (std::size_t i = 0; i < voters_.size(); ++i) {
    const TimePoint start = boot_now();
    const TimePoint until =
        start + (give_up - start) / static_cast<std::int64_t>(voters_.size() - i);
    Result<T> result = wait_until_idle(voters_[i], until) ? read(voters_[i].server(), until)
                                                          : Result<T>(not_idle());
    ServerState state{.endpoint = voters_[i].endpoint(), .took = boot_now() - start};
    if (result)
      found.push_back(std::move(result).value());
    else
      state.error = result.error();
    states_.push_back(std::move(state));
  }
  if (found.size() >= majority_of(voters_.size())) return found;
  return no_majority_of(states_, found.size());
}

Result<LockView> QuorumStore::show(const std::string& lock, TimePoint give_up) {
  auto views = read_majority<LockView>(
      give_up, [&](Backend& server, TimePoint until) { return server.show(lock, until); });
  if (!views) return views.error();
  return best_of(*views, majority_of(voters_.size()));
}

Result<std::vector<LockView>> QuorumStore::list(TimePoint give_up, std::size_t max_locks) {
  auto lists = read_majority<std::vector<LockView>>(
      give_up, [&](Backend& server, TimePoint until) { return server.list(until, max_locks); });
  if (!lists) return lists.error();
  std::map<std::string, std::vector<LockView>> by_name;
  for (std::vector<LockView>& list : *lists)
    for (LockView& view : list) by_name[view.lock].push_back(std::move(view));
  std::vector<LockView> all;
  for (const auto& [name, views] : by_name)
    all.push_back(best_of(views, majority_of(voters_.size())));
  limit_views(all, max_locks);
  return all;
}

Result<Revoked> QuorumStore::revoke(const std::string& lock, TimePoint give_up) {
  auto revoked = read_majority<Revoked>(
      give_up, [&](Backend& server, TimePoint until) { return server.revoke(lock, until); });
  if (!revoked) return revoked.error();
  return *std::max_element(revoked->begin(), revoked->end(),
                           [](const Revoked& a, const Revoked& b) {
                             return std::tuple(a.was_held, a.was_cooling, a.fence) <
                                    std::tuple(b.was_held, b.was_cooling, b.fence);
                           });
}

}  // namespace cronlatch::quorum
