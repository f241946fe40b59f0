// SPDX-License-Identifier: Apache-2.0
// QuorumStore: a lock on 3, 5 or 7 independent servers, of which a majority must grant it (Redlock,
// https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), with a fence that rises
// over all grants. Contracts: core/store.h, core/lock_stats.h.
//
// A grant has two steps. All servers are requested at once. Then each server that granted the lock
// gets F, the highest of their fences, with a renewal, which raises its fence to F. A majority must
// confirm F before the command starts. The next grant shares a server with this majority, so its
// fence is higher. A server on which the claim does not hold the lock does not confirm: F could
// fall behind the fence of a delayed grant there.
//
// Runs that request the lock at the same time can each get a minority. The run with most servers
// keeps them, and the others give theirs back, so that one of them soon has a majority.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/lock_stats.h"
#include "core/server_state.h"
#include "core/store.h"
#include "store/quorum/voter.h"
#include "store/quorum/votes.h"

namespace cronlatch::quorum {

class QuorumStore : public Backend, public ServerStates {
 public:
  // The attempts of the servers for one attempt of the run: each round whose grants were given back
  // is one.
  static constexpr std::uint32_t kRounds = 64;

  // `min_uptime`: of a server without an older record of the lock (Acquire::min_uptime). At least
  // the longest lease that any run requests.
  QuorumStore(std::vector<Voter> servers, Millis min_uptime);

  void send(const Request& request, TimePoint now) override;
  void watch(PollSet& set) const override;
  std::optional<Reply> step(const PollSet& set, TimePoint now) override;

  // Of the servers that answer, which must be a majority.
  Result<std::vector<LockView>> list(TimePoint give_up, std::size_t max_locks) override;
  Result<LockView> show(const std::string& lock, TimePoint give_up) override;
  Result<Revoked> revoke(const std::string& lock, TimePoint give_up) override;
  std::vector<ServerState> server_states() const override { return states_; }

 private:
  enum class Phase {
    idle,
    acquiring,   // every server is requested
    confirming,  // the servers that granted the lock get the highest fence
    returning,   // the grants of a minority are given back
    counting,    // the servers that refused count the refusal
    pausing,     // before the next round
    renewing,
    releasing,
  };

  // ---- quorum_lock_stats.cc ----
  // What the servers returned; at least a majority, or an error. Sets states_.
  template <class T, class Read>
  Result<std::vector<T>> read_majority(TimePoint give_up, const Read& read);

  // ---- quorum_acquire.cc ----
  void start_acquire(const Acquire& request, TimePoint now);
  void start_round(TimePoint now);
  // As the servers get it: with the claim of this round.
  Acquire server_request(IfBusy if_busy) const;
  void finish_round(TimePoint now);
  void confirm(TimePoint now);
  void finish_confirmation(TimePoint now);
  void give_back(TimePoint now);
  void finish_return(TimePoint now);
  void count_refusal(TimePoint now);
  void pause(Millis most, TimePoint now);
  const Acquire& acquire() const { return std::get<Acquire>(*request_); }

  // ---- quorum_store.cc ----
  void advance(TimePoint now);
  void finish_renewal(TimePoint now);
  void finish_release(TimePoint now);
  void on_deadline();
  void finish(Reply reply);
  void send_to(std::size_t server, const Request& request, TimePoint now);
  void send_to_all(const Request& request, TimePoint now);
  bool have_all_answered() const;
  // A majority has decided. True once the other servers have answered, too, or had time for it.
  bool is_settled(TimePoint now);
  // Of the servers that were requested in this phase; the others count as not reached.
  Replies replies() const;
  // The claim that the servers have: each round after a returned grant is an attempt of its own.
  Claim server_claim(const Claim& claim) const;
  double random_unit();

  std::vector<Voter> voters_;
  std::vector<ServerState> states_;  // of the last call of LockStats
  Millis min_uptime_;
  std::optional<Request> request_;
  std::optional<Reply> reply_;
  Phase phase_ = Phase::idle;
  std::vector<bool> requested_;  // in this phase
  TimePoint give_up_{};
  TimePoint sent_at_{};

  // the acquire
  Claim claim_{};            // of the last acquire
  std::uint32_t round_ = 0;  // of claim_: the rounds whose grants were given back
  int failures_ = 0;         // rounds of this request without a decision
  TimePoint rounds_end_{};   // after this time a round without a decision is the last one
  std::optional<TimePoint> pause_ends_;
  Fence fence_ = 0;
  bool stole_ = false;
  std::optional<Reply> decision_;  // the reply after the grants are given back
  std::vector<bool> refused_;      // the servers that refused in the last round
  bool is_counted_ = false;
  std::uint64_t random_ = 0;

  std::optional<TimePoint> settled_at_;  // when a majority had decided this phase
  std::vector<bool> had_confirmed_;      // before the renewal
};

}  // namespace cronlatch::quorum
