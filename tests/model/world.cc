// SPDX-License-Identifier: Apache-2.0
#include "model/world.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "model/client.h"

namespace cronlatch::model {
namespace {

constexpr std::int64_t kMs = 1'000, kS = 1'000'000;
constexpr std::int64_t kFaultsEnd = 90 * kS;     // no faults and no new runs after this
constexpr std::int64_t kTimeLimit = 4'000 * kS;  // the time limit of a schedule

class World {
 public:
  World(std::uint64_t seed, const Defects& defects, bool verbose)
      : random_(seed),
        defects_(defects),
        verbose_(verbose),
        server_([this] { return server_time(); }) {}

  Report run_schedule() {
    schedule_faults();
    while (!queue_.empty() && queue_.top().at <= kTimeLimit && checker_.violation().empty()) {
      now_ = queue_.top().at;
      const std::function<void()> what = std::move(const_cast<Later&>(queue_.top()).what);
      queue_.pop();
      what();
    }
    for (const auto& c : clients_)
      if (!c->finished && !c->crashed) checker_.never_ended(c->id);
    return {checker_.violation(), trace_, seen_};
  }

 private:
  struct Later {
    std::int64_t at;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Later& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  void later(std::int64_t in_us, std::function<void()> what) {
    queue_.push({now_ + std::max<std::int64_t>(0, in_us), ++order_, std::move(what)});
  }
  void add_to_trace(const Client* c, const char* what, std::int64_t number = 0) {
    for (const char* p = what; *p; ++p)
      trace_ = (trace_ ^ static_cast<unsigned char>(*p)) * 0x100000001B3u;
    trace_ = (trace_ ^ static_cast<std::uint64_t>(now_ * 31 + number)) * 0x100000001B3u;
    if (verbose_)
      std::printf("%11.6f %2d %-22s %lld\n", static_cast<double>(now_) / 1e6, c ? c->id : -1, what,
                  static_cast<long long>(number));
  }
  ServerTime server_time() const {
    return {1'700'000'000 * kS +
            static_cast<std::int64_t>(static_cast<double>(now_) * server_rate_) + step_us_};
  }

  // ---- the start ----
  void schedule_faults() {
    server_rate_ = 1.0 + static_cast<double>(random_.between(-450, 450)) / 100'000.0;
    ttl_ = Millis(random_.percent(80) ? random_.between(5'000, 8'000)
                                      : random_.between(9'000, 30'000));
    loses_data_ = random_.one_in(12);
    steps_back_ = !loses_data_ && random_.one_in(12);
    no_faults_ = random_.one_in(4);
    if (loses_data_ && random_.one_in(2))
      later(random_.between(5 * kS, kFaultsEnd), [this] { forget(); });
    else if (loses_data_)
      later(random_.between(5 * kS, kFaultsEnd), [this] { lag(); });
    later(random_.between(kS, kFaultsEnd), [this] { step_clock(); });
    for (int slot = 0; slot < 4; ++slot)
      later(random_.between(0, 3 * kS), [this] { new_client(); });
    later(kFaultsEnd, [this] { no_faults_ = true; });
  }
  // A replica stops replicating, and becomes the primary later.
  void lag() {
    later(random_.between(0, 30 * kS), [this, records = server_.records()] { roll_back(records); });
  }
  void roll_back(const MemoryServer::Records& records) {
    checker_.store_lost_data();
    server_.restore(records);
    ++seen_.rolled_back;
    add_to_trace(nullptr, "rolled back");
  }
  void forget() {
    checker_.store_lost_data();
    server_.forget();
    ++seen_.forgotten;
    add_to_trace(nullptr, "data lost");
  }
  // At most one forward step of at most 0.5 s during a lease (A2); steps back are safe.
  void step_clock() {
    if (now_ > kFaultsEnd) return;
    if (steps_back_) {
      step_us_ -= random_.between(0, 5 * kS);
      ++seen_.backward_steps;
    } else {
      step_us_ += random_.between(0, 500 * kMs);
    }
    add_to_trace(nullptr, "step", step_us_);
    later(Micros(ttl_).count() * 2 + random_.between(0, 20 * kS), [this] { step_clock(); });
  }
  RunSpec random_spec(int id) {
    RunSpec spec;
    spec.lock = "l";
    spec.owner = "o" + std::to_string(id);
    spec.identity.holder = "h";
    spec.identity.job = random_.one_in(2) ? "a" : "b";
    spec.kill_after = Millis(random_.between(0, 4'000));
    spec.timings = *plan_timings(
        {.ttl = ttl_, .renew_every = {}, .op_timeout = {}, .kill_after = spec.kill_after});
    if (defects_.margin_zero) spec.timings.margin = Millis(0);
    spec.on_busy = random_.percent(80) ? OnBusy::wait : OnBusy::skip;
    spec.wait_timeout = Millis(random_.one_in(3) ? random_.between(1'000, 60'000) : 0);
    spec.on_store_down = random_.one_in(2) ? OnStoreDown::wait : OnStoreDown::fail;
    spec.leftovers = random_.one_in(3) ? Leftovers::wait : Leftovers::end;
    if (random_.one_in(5)) spec.min_hold = Millis(random_.between(0, 10'000));
    if (random_.one_in(5)) spec.max_run = Millis(random_.between(1'000, 20'000));
    if (random_.one_in(4)) spec.identity.group = "g" + std::to_string(random_.between(0, 2));
    spec.connect_timeout = Millis(5'000);
    spec.grace_period = Millis(30'000);
    spec.seed = random_.bits();
    return spec;
  }
  Client& add_client(RunSpec spec) {
    clients_.push_back(std::make_unique<Client>());
    Client& c = *clients_.back();
    c.id = static_cast<int>(clients_.size());
    c.clock.rate = 1.0 + static_cast<double>(random_.between(-450, 450)) / 100'000.0;
    c.clock.offset_us = random_.between(0, 1'000'000 * kS);
    c.spec = spec;
    c.run = std::make_unique<Run>(std::move(spec));
    handle(c, Begin{});
    return c;
  }
  void new_client() {
    if (now_ >= kFaultsEnd) return;
    Client& c = add_client(random_spec(static_cast<int>(clients_.size()) + 1));
    if (random_.one_in(6)) later(random_.between(0, 40 * kS), [this, &c] { crash(c); });
    if (random_.one_in(8)) later(random_.between(0, 30 * kS), [this, &c] { signal(c); });
    if (random_.one_in(10)) later(random_.between(0, 30 * kS), [this] { revoke(); });
    if (random_.one_in(3)) later(random_.between(0, 30 * kS), [this, &c] { pause(c); });
  }
  // ---- faults of a client ----
  void crash(Client& c) {
    if (c.finished || c.crashed) return;
    c.ended_at = now_;
    c.crashed = true;  // SIGKILL: the parent-death signal kills the command, too
    ++seen_.crashes;
    add_to_trace(&c, "crash");
    end_tree(c);
    later(random_.between(0, 5 * kS), [this] { new_client(); });
  }
  void signal(Client& c) {
    if (c.finished || c.crashed) return;
    if (!c.tree_alive()) ++seen_.canceled;
    add_to_trace(&c, "signal");
    handle(c, SignalArrived{SIGTERM});
  }
  void revoke() {
    if (server_.record("l").state == rules::HoldState::held) ++seen_.revoked;
    server_.revoke("l");
    checker_.check_counters(server_.record("l"));
    add_to_trace(nullptr, "revoke");
  }
  // A3: with the time to reap (below), at most kappa (1 s) in total.
  void pause(Client& c) {
    if (c.finished || c.crashed || now_ > kFaultsEnd) return;
    c.paused_until = now_ + random_.between(0, 500 * kMs);
    ++seen_.pauses;
    add_to_trace(&c, "pause", c.paused_until);
    later(c.paused_until - now_, [this, &c] { resume(c); });
    later(random_.between(kS, 30 * kS), [this, &c] { pause(c); });
  }
  void resume(Client& c) {
    if (now_ < c.paused_until) return;
    std::deque<Event> events = std::exchange(c.while_paused, {});
    handle(c, Tick{});
    for (const Event& e : events) handle(c, e);
  }

  // ---- the loop of the wrapper: the tick that is due, then the event, then the returned actions
  // ----
  void handle(Client& c, const Event& event) {
    if (c.finished || c.crashed) return;
    if (now_ < c.paused_until) {
      c.while_paused.push_back(event);
      return;
    }
    c.just_granted = std::holds_alternative<Granted>(event);
    const TimePoint now = c.clock.at(now_);
    if (c.run->wake_at() && *c.run->wake_at() <= now) execute_actions(c, c.run->on(Tick{}, now));
    if (!c.finished) execute_actions(c, c.run->on(event, now));
    const std::optional<TimePoint> wake = c.run->wake_at();
    if (c.finished || !wake) return;
    const std::uint64_t generation = ++c.wake_generation;
    later(c.clock.true_at(*wake) - now_, [this, &c, generation] {
      if (generation == c.wake_generation) handle(c, Tick{});
    });
  }
  void execute_actions(Client& c, const std::vector<Action>& actions) {
    for (const Action& a : actions) {
      if (const StoreRequest* ask = std::get_if<StoreRequest>(&a)) send_request(c, ask->request);
      if (std::holds_alternative<Launch>(a)) launch(c, std::get<Launch>(a).fence);
      if (const SendSignal* d = std::get_if<SendSignal>(&a)) send_signal(c, d->signo);
      if (std::holds_alternative<Finish>(a)) finish(c);
      if (const LogLine* line = std::get_if<LogLine>(&a)) {
        add_to_trace(&c, line->event.c_str());
        if (line->event == "expiring") ++seen_.killed_by_lease;
        if (line->event == "restored") ++seen_.restored;
        if (line->event == "waiting") ++seen_.waited;
      }
    }
  }
  void finish(Client& c) {
    if (c.finished) checker_.finished_twice();
    c.finished = true;
    c.ended_at = now_;
    add_to_trace(&c, "finish", static_cast<std::int64_t>(c.run->outcome()->kind));
    if (now_ < kFaultsEnd) later(random_.between(0, 6 * kS), [this] { new_client(); });
  }

  // ---- the command ----
  void launch(Client& c, Fence fence) {
    if (!c.just_granted) checker_.started_ungranted();
    checker_.tree_starts(c.spec.lock, c.id, now_);
    add_to_trace(&c, "launch", static_cast<std::int64_t>(fence));
    c.main_alive = true;
    c.has_background = c.background_alive = random_.one_in(6);
    c.exits_on_term = random_.percent(60);
    if (random_.one_in(40)) {
      end_tree(c);
      later(kMs, [this, &c] { handle(c, CannotStart{{Code::exec_denied, "x"}}); });
      return;
    }
    later(random_.between(0, 3 * kMs), [this, &c] { handle(c, ChildStarted{}); });
    const std::int64_t life =
        random_.percent(70) ? random_.between(4 * kMs, 10 * kS) : random_.between(10 * kS, 60 * kS);
    later(life, [this, &c] { main_ends(c, random_.one_in(3) ? 1 : 0); });
    if (c.has_background)
      later(life + random_.between(0, 20 * kS), [this, &c] { background_ends(c); });
  }
  void send_signal(Client& c, int signo) {
    if (signo == SIGTERM && c.exits_on_term) {
      later(random_.between(0, 2 * kS), [this, &c] { main_ends(c, 143); });
      if (c.has_background) later(random_.between(0, 2 * kS), [this, &c] { background_ends(c); });
    }
    if (signo == SIGKILL) {  // A3: together with a pause, the processes are reaped within kappa
      const std::int64_t longest = now_ < c.paused_until + kS ? 450 * kMs : 950 * kMs;
      later(random_.between(0, longest), [this, &c] { main_ends(c, 137); });
      later(random_.between(0, longest), [this, &c] { background_ends(c); });
    }
  }
  void main_ends(Client& c, int code) {
    if (!c.main_alive) return;
    c.main_alive = false;
    if (!c.background_alive) checker_.tree_ends(c.spec.lock, c.id);
    if (c.background_alive) ++seen_.leftovers;
    add_to_trace(&c, "exit", code);
    handle(c, ChildExited{code, !c.background_alive});
  }
  void background_ends(Client& c) {
    if (!c.background_alive) return;
    c.background_alive = false;
    if (c.main_alive) return;
    checker_.tree_ends(c.spec.lock, c.id);
    add_to_trace(&c, "background exit");
    handle(c, TreeEmpty{});
  }
  void end_tree(Client& c) {
    c.main_alive = c.background_alive = false;
    checker_.tree_ends(c.spec.lock, c.id);
  }

  // ---- the network: one request at a time, each with its own faults ----
  std::int64_t random_delay() {
    if (no_faults_) return random_.between(200, 3 * kMs);
    if (random_.percent(85)) return random_.between(200, 20 * kMs);
    return random_.percent(70) ? random_.between(20 * kMs, 4 * kS)
                               : random_.between(4 * kS, 40 * kS);
  }
  bool lost(Client& c) { return !no_faults_ && (cut_off(c) || random_.percent(8)); }
  // At times all messages of a client are dropped: the lease of a live holder expires while other
  // runs request the lock.
  bool cut_off(Client& c) {
    if (now_ >= c.cut_until && random_.one_in(25))
      c.cut_until = now_ + random_.between(kS, Micros(ttl_).count() * 3);
    return now_ < c.cut_until;
  }
  static TimePoint give_up_of(const Request& request) {
    return std::visit([](const auto& r) { return r.give_up; }, request);
  }
  void send_request(Client& c, const Request& request) {
    const std::uint64_t number = ++c.request_number;
    const TimePoint give_up = give_up_of(request);
    later(c.clock.true_at(give_up) - now_, [this, &c, number] { disconnect(c, number, false); });
    if (c.connected) return send(c, number, request);
    if (lost(c)) return;  // the handshake failed: no request was sent
    if (!no_faults_ && random_.one_in(20)) {
      later(random_delay(), [this, &c, number] { disconnect(c, number, true); });
      return;
    }
    later(random_delay(), [this, &c, number, request] {
      const ServerTime store_time = server_time();
      later(random_delay(), [this, &c, number, request, store_time] {
        if (number != c.request_number) return;
        c.connected = true;
        set_store_time(c, store_time);
        send(c, number, request);
      });
    });
  }
  void set_store_time(Client& c, ServerTime t) {
    c.store_time = t;
    c.store_time_at = c.clock.at(now_);
  }
  void disconnect(Client& c, std::uint64_t number, bool unsent) {
    if (number != c.request_number || c.finished) return;
    ++c.request_number;
    c.connected = false;
    ++seen_.lost_replies;
    handle(c, Unavailable{{Code::unreachable, "disconnected"}, true, unsent});
  }
  void send(Client& c, std::uint64_t number, const Request& request) {
    const TimePoint sent_at = c.clock.at(now_);
    const TimePoint give_up = give_up_of(request);
    ServerTime not_after =
        c.store_time + std::chrono::duration_cast<Micros>(give_up - c.store_time_at);
    if (defects_.no_not_after) not_after = ServerTime{INT64_MAX};
    // The permitted difference between the clocks since the client last read the store's time.
    const std::int64_t drift = (give_up - c.store_time_at).count() / 50 + 600 * kMs;
    const std::int64_t deadline = c.clock.true_at(give_up) + drift;
    if (!no_faults_ && random_.one_in(30))
      later(random_delay(), [this, &c, number] { disconnect(c, number, false); });
    if (lost(c)) return;
    later(random_delay(), [this, &c, number, request, sent_at, not_after, deadline] {
      Reply reply = execute(c, request, not_after, deadline);
      const ServerTime store_time = server_time();
      if (lost(c)) return;
      later(random_delay(), [this, &c, number, reply, store_time, sent_at]() mutable {
        if (number != c.request_number || c.crashed) return;
        set_store_time(c, store_time);
        const TimePoint dated = defects_.dated_after_reply ? c.clock.at(now_) : sent_at;
        if (Granted* g = std::get_if<Granted>(&reply)) g->sent_at = dated;
        if (Renewed* k = std::get_if<Renewed>(&reply)) k->sent_at = dated;
        ++c.request_number;  // answered: the time limit is no longer relevant
        std::visit([&](const auto& r) { handle(c, r); }, reply);
      });
    });
  }
  Reply execute(Client& c, Request request, ServerTime not_after, std::int64_t deadline) {
    const rules::Record before = server_.record("l");
    if (defects_.release_without_owner)
      if (Release* release = std::get_if<Release>(&request)) release->claim = before.claim;
    const Reply reply = server_.execute(request, not_after);
    const std::int64_t late = steps_back_ ? -1 : now_ - deadline;
    if (late > 0) ++seen_.late;
    checker_.executed(request, before, server_.record("l"), late);
    add_to_trace(&c, "executed", static_cast<std::int64_t>(reply.index()));
    if (const Granted* g = std::get_if<Granted>(&reply)) {
      ++seen_.granted;
      checker_.granted("l", std::get<Acquire>(request).claim, g->fence);
      if (g->stole) ++seen_.stolen;
    }
    if (const Renewed* k = std::get_if<Renewed>(&reply);
        k != nullptr && k->restored && before.state != rules::HoldState::none)
      ++seen_.restored_older;
    if (std::holds_alternative<Busy>(reply)) ++seen_.busy;
    if (const Busy* busy = std::get_if<Busy>(&reply)) check_l2(*busy);
    return reply;
  }
  // L2: a run that has ended holds the lock for at most one lease after its last request was
  // executed.
  void check_l2(const Busy& busy) {
    // (A repeated answer, to a client that did not receive the first one, has no remaining time.)
    if (busy.reason != BusyReason::held || busy.remaining.count() == 0 || steps_back_) return;
    const int id = std::atoi(server_.record("l").claim.owner.c_str() + 1);
    const Client& holder = *clients_[static_cast<std::size_t>(id - 1)];
    if (holder.ended_at == 0 || now_ < holder.ended_at + Micros(ttl_).count() * 101 / 100 + 7 * kS)
      return;
    checker_.held_after_end(id);
  }

  Random random_;
  const Defects defects_;
  const bool verbose_;
  std::int64_t now_ = 0;
  std::uint64_t order_ = 0, trace_ = 0xCBF29CE484222325u;
  std::priority_queue<Later> queue_;
  MemoryServer server_;
  Checker checker_;
  Seen seen_;
  std::vector<std::unique_ptr<Client>> clients_;
  double server_rate_ = 1.0;
  std::int64_t step_us_ = 0;
  Millis ttl_{};
  bool no_faults_ = false, steps_back_ = false, loses_data_ = false;
};

}  // namespace

void Seen::add(const Seen& o) {
  granted += o.granted, busy += o.busy, stolen += o.stolen, late += o.late,
      lost_replies += o.lost_replies;
  killed_by_lease += o.killed_by_lease, crashes += o.crashes, pauses += o.pauses,
      revoked += o.revoked;
  rolled_back += o.rolled_back, restored_older += o.restored_older, restored += o.restored,
      waited += o.waited, canceled += o.canceled, forgotten += o.forgotten;
  backward_steps += o.backward_steps, leftovers += o.leftovers;
}

Report run_schedule(std::uint64_t seed, const Defects& defects, bool verbose) {
  return World(seed, defects, verbose).run_schedule();
}

}  // namespace cronlatch::model
