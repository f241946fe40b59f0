// SPDX-License-Identifier: Apache-2.0
#include "model/failover_world.h"

#include <algorithm>

namespace cronlatch::model {
namespace {

using Ms = std::int64_t;
constexpr Ms kStep = 20, kEnd = 120'000, kWait = 1'000;
constexpr int kServers = 3, kRuns = 4;
constexpr Millis kTtl{5'000};

struct Epoch {
  int history = 0;
  Ms since = 0;
};

// What a master sends to its replicas.
struct State {
  MemoryServer::Records records;
  std::optional<Epoch> epoch;
  std::uint64_t sequence = 0;  // of the last write
};

struct Server {
  State state;
  int history = 0;  // the replication id
  int master = 0;   // whose replica it is; itself: it is a master
  bool is_up = true;
  Ms clock_error = 0;  // at most 0.2 s (A2)
};

struct Pending {
  bool is_renewal = false;
  int server = 0, history = 0;
  std::uint64_t sequence = 0;
  Ms sent = 0;
  Fence fence = 0;
};

struct Run {
  std::string owner;
  std::uint32_t attempt = 0;
  int server = 0;           // of its connection
  bool sees_others = true;  // during a partition: the majority, which has the Sentinels
  bool sees_isolated = true;
  std::optional<Pending> pending;
  Ms next = 0;              // request
  std::optional<Ms> holds;  // the lease counts from here
  Fence fence = 0;
  Ms ends = 0;  // of its command
};

std::size_t index_of(int server) { return static_cast<std::size_t>(server); }

class FailoverWorld {
 public:
  FailoverWorld(std::uint64_t seed, const StrictVariant& variant)
      : random_(seed), variant_(variant) {
    for (int i = 0; i < kServers; ++i) {
      servers_[index_of(i)].master = 0;
      servers_[index_of(i)].history = 1;
      servers_[index_of(i)].state.epoch = Epoch{1, -1'000'000};
      servers_[index_of(i)].clock_error = random_.between(0, 200);
    }
    for (int i = 0; i < kRuns; ++i) {
      runs_[index_of(i)].owner = "o" + std::to_string(i);
      runs_[index_of(i)].next = random_.between(0, 2'000);
    }
    next_fault_ = random_.between(5'000, 15'000);
  }

  FailoverResult simulate() {
    for (; now_ < kEnd && result_.overlap.empty(); now_ += kStep) {
      if (now_ >= next_fault_) fault();
      replicate();
      for (Run& run : runs_) step(run);
      check();
    }
    return result_;
  }

 private:
  // ---- servers ----
  bool is_isolated(int server) const { return isolated_[index_of(server)]; }
  bool are_connected(int a, int b) const {
    return servers_[index_of(a)].is_up && servers_[index_of(b)].is_up &&
           is_isolated(a) == is_isolated(b);
  }
  void replicate() {
    for (int i = 0; i < kServers; ++i) {
      Server& replica = servers_[index_of(i)];
      const int master = replica.master;
      if (master == i || !are_connected(i, master) || servers_[index_of(master)].master != master)
        continue;
      if (!random_.one_in(3)) continue;  // a lag of some steps
      replica.state = servers_[index_of(master)].state;
      replica.history = servers_[index_of(master)].history;
    }
  }
  std::size_t acknowledged(const Pending& request) const {
    std::size_t count = 0;
    for (int i = 0; i < kServers; ++i)
      count += i != request.server && servers_[index_of(i)].master == request.server &&
               are_connected(i, request.server) &&
               servers_[index_of(i)].history == request.history &&
               servers_[index_of(i)].state.sequence >= request.sequence;
    return count;
  }
  void promote(int server) {
    ++result_.promotions;
    servers_[index_of(server)].master = server;
    servers_[index_of(server)].history = ++histories_;
    if (random_.one_in(4))
      servers_[index_of(server)].state = State{};  // it was restarted without its data
    named_ = server;
    for (int i = 0; i < kServers; ++i)
      if (!is_isolated(i) && servers_[index_of(i)].is_up) servers_[index_of(i)].master = server;
  }
  // A master is isolated, alone or with a replica, or ends; then another one is promoted; then the
  // network heals, and everything follows the named master.
  void fault() {
    switch (stage_++) {
      case 0: {
        const bool is_killed = random_.one_in(3);
        if (is_killed) {
          servers_[index_of(named_)].is_up = false;
        } else {
          isolated_[index_of(named_)] = true;
          const int with = (named_ + static_cast<int>(random_.between(1, 2))) % kServers;
          if (random_.one_in(2)) isolated_[index_of(with)] = true;
          for (Run& run : runs_) {
            run.sees_isolated = random_.percent(70);
            run.sees_others = !run.sees_isolated || random_.percent(70);
          }
        }
        next_fault_ = now_ + random_.between(0, 4'000);
        return;
      }
      case 1: {
        std::vector<int> candidates;
        for (int i = 0; i < kServers; ++i)
          if (i != named_ && !is_isolated(i) && servers_[index_of(i)].is_up)
            candidates.push_back(i);
        promote(candidates[static_cast<std::size_t>(
            random_.between(0, static_cast<std::int64_t>(candidates.size()) - 1))]);
        next_fault_ = now_ + random_.between(1'000, 25'000);
        return;
      }
      default:
        for (int i = 0; i < kServers; ++i) {
          if (!servers_[index_of(i)].is_up) servers_[index_of(i)].state = State{};
          isolated_[index_of(i)] = false;
          servers_[index_of(i)].is_up = true;
          servers_[index_of(i)].master = named_;
        }
        for (Run& run : runs_) run.sees_others = run.sees_isolated = true;
        stage_ = 0;
        next_fault_ = now_ + random_.between(2'000, 20'000);
    }
  }

  // ---- requests ----
  // The server that executes the request of the run; none: unavailable.
  std::optional<int> reach(Run& run) const {
    const auto is_reachable = [&](int server) {
      return servers_[index_of(server)].is_up && servers_[index_of(server)].master == server &&
             (is_isolated(server) ? run.sees_isolated : run.sees_others);
    };
    if (is_reachable(run.server)) return run.server;
    if (!run.sees_others || !is_reachable(named_)) return std::nullopt;
    run.server = named_;
    return named_;
  }
  unsigned slots_of(const Run& run) const {
    const bool is_last = &run == &runs_.back();
    return is_last && variant_.slots_of_last > 0 ? variant_.slots_of_last : variant_.slots;
  }
  // The defects of the negative controls.
  void damage(MemoryServer::Records& records, const Request& request) const {
    const auto* acquire = std::get_if<Acquire>(&request);
    const auto at = records.find("l");
    if (acquire == nullptr || at == records.end()) return;
    rules::Record& record = at->second;
    if (variant_.ignores_slot_end)
      for (rules::Slot& slot : record.more) slot.expires = {};
    if (variant_.ignores_number && record.state != rules::HoldState::none &&
        acquire->slots > record.slots) {
      record.slots = acquire->slots;
      record.more.resize(acquire->slots - 1);
    }
  }
  std::optional<Reply> execute(int server, const Request& request) {
    Server& at = servers_[index_of(server)];
    const Ms clock = 1'700'000'000'000 + now_ + at.clock_error;
    MemoryServer memory([clock] { return ServerTime{clock * 1'000}; });
    MemoryServer::Records records = at.state.records;
    damage(records, request);
    memory.restore(std::move(records));
    Reply reply = memory.execute(request, ServerTime{INT64_MAX});
    const bool is_release = std::holds_alternative<Release>(request);
    if (!is_release && variant_.has_quarantine) {
      std::optional<Epoch>& epoch = at.state.epoch;
      if (!epoch || epoch->history != at.history || epoch->since > clock) {
        epoch = Epoch{at.history, clock};
        ++at.state.sequence;
      }
      const Micros left = Millis(epoch->since - clock) + strict_.quarantine();
      if (std::holds_alternative<Granted>(reply) && left.count() > 0) return Quarantined{left};
    }
    at.state.records = memory.records();
    ++at.state.sequence;
    return reply;
  }
  void send(Run& run) {
    const auto server = reach(run);
    const bool is_renewal = run.holds.has_value();
    run.next = now_ + random_.between(200, 800);
    if (!server) return;
    if (!is_renewal) ++run.attempt;
    const Claim claim{run.owner, run.attempt};
    Request request;
    if (is_renewal) {
      Renew renew;
      renew.lock = "l";
      renew.claim = claim;
      renew.fence = run.fence;
      renew.ttl = kTtl;
      renew.slots = slots_of(run);
      request = renew;
    } else {
      Acquire acquire;
      acquire.lock = "l";
      acquire.claim = claim;
      acquire.ttl = kTtl;
      acquire.if_busy = IfBusy::wait;
      acquire.slots = slots_of(run);
      request = acquire;
    }
    const std::optional<Reply> reply = execute(*server, request);
    Pending pending{is_renewal, *server, servers_[index_of(*server)].history,
                    servers_[index_of(*server)].state.sequence, now_ - random_.between(0, 100)};
    if (const auto* granted = std::get_if<Granted>(&*reply)) {
      pending.fence = granted->fence;
      run.pending = pending;
    } else if (std::holds_alternative<Renewed>(*reply)) {
      run.pending = pending;
    } else if (std::holds_alternative<Quarantined>(*reply)) {
      ++result_.quarantined;
    } else if (std::holds_alternative<Unavailable>(*reply)) {
      ++result_.refused;
    } else if (std::holds_alternative<NotHolder>(*reply)) {
      run.holds.reset();
    }
  }
  void release(Run& run, Fence fence) {
    const auto server = reach(run);
    Release release;
    release.lock = "l";
    release.claim = {run.owner, run.attempt};
    release.fence = fence;
    if (server) execute(*server, release);
  }
  void confirm(Run& run) {
    const Pending request = *run.pending;
    if (acknowledged(request) >= variant_.acknowledgements) {
      run.pending.reset();
      if (!request.is_renewal) {
        ++result_.grants;
        run.fence = request.fence;
        run.ends = now_ + random_.between(500, 40'000);
      }
      run.holds = request.sent;
    } else if (now_ >= request.sent + kWait) {
      run.pending.reset();
      if (request.is_renewal) return;
      ++result_.given_back;
      release(run, request.fence);
    }
  }
  void step(Run& run) {
    if (run.holds && now_ >= *run.holds + (kTtl - lease_margin(kTtl)).count()) {
      run.holds.reset();  // its command has been killed
      if (run.pending && run.pending->is_renewal) run.pending.reset();
    }
    if (run.holds && now_ >= run.ends && !run.pending) {
      release(run, run.fence);
      run.holds.reset();
    }
    if (run.pending) return confirm(run);
    if (now_ >= run.next) send(run);
  }
  void check() {
    int holders = 0;
    unsigned slots = variant_.slots;
    std::string names;
    for (const Run& run : runs_)
      if (run.holds) {
        ++holders;
        // A run relies on its own number.
        slots = holders == 1 ? slots_of(run) : std::min(slots, slots_of(run));
        names += ' ' + run.owner;
      }
    result_.most = std::max(result_.most, holders);
    if (holders > static_cast<int>(slots))
      result_.overlap = "at " + std::to_string(now_) + " ms:" + names;
  }

  Random random_;
  const StrictVariant variant_;
  const StrictSettings strict_{2, kTtl};
  Ms now_ = 0, next_fault_ = 0;
  int stage_ = 0, named_ = 0, histories_ = 1;
  std::array<bool, kServers> isolated_{};
  std::array<Server, kServers> servers_;
  std::array<Run, kRuns> runs_;
  FailoverResult result_;
};

}  // namespace

FailoverResult simulate_failovers(std::uint64_t seed, const StrictVariant& variant) {
  return FailoverWorld(seed, variant).simulate();
}

}  // namespace cronlatch::model
