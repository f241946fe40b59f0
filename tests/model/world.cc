// SPDX-License-Identifier: Apache-2.0
#include "model/world.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "model/client.h"

namespace cronlatch::model {
namespace {

constexpr std::int64_t kMs = 1'000, kS = 1'000'000;
constexpr std::int64_t kEnd = 90 * kS;        // faults and new runs stop here
constexpr std::int64_t kTheEnd = 4'000 * kS;  // nothing may take longer

class World {
 public:
  World(std::uint64_t seed, const Broken& broken, bool verbose)
      : chance_(seed),
        broken_(broken),
        verbose_(verbose),
        server_([this] { return server_time(); }) {}

  Report play() {
    set_the_stage();
    while (!queue_.empty() && queue_.top().at <= kTheEnd && checker_.violation().empty()) {
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
  void note(const Client* c, const char* what, std::int64_t number = 0) {
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

  // ---- the stage ----
  void set_the_stage() {
    server_rate_ = 1.0 + static_cast<double>(chance_.between(-450, 450)) / 100'000.0;
    ttl_ = Millis(chance_.percent(80) ? chance_.between(5'000, 8'000)
                                      : chance_.between(9'000, 30'000));
    loses_data_ = chance_.one_in(12);
    steps_back_ = !loses_data_ && chance_.one_in(12);
    calm_ = chance_.one_in(4);
    if (loses_data_ && chance_.one_in(2))
      later(chance_.between(5 * kS, kEnd), [this] { forget(); });
    else if (loses_data_)
      later(chance_.between(5 * kS, kEnd), [this] { lag(); });
    later(chance_.between(kS, kEnd), [this] { step_clock(); });
    for (int slot = 0; slot < 4; ++slot)
      later(chance_.between(0, 3 * kS), [this] { new_client(); });
    later(kEnd, [this] { calm_ = true; });
  }
  // A replica stops to follow, and takes over a while later.
  void lag() {
    later(chance_.between(0, 30 * kS), [this, kept = server_.kept()] { roll_back(kept); });
  }
  void roll_back(const MemoryServer::Renewed& kept) {
    checker_.store_forgot();
    server_.go_back_to(kept);
    ++seen_.rolled_back;
    note(nullptr, "roll back");
  }
  void forget() {
    checker_.store_forgot();
    server_.forget();
    ++seen_.forgotten;
    note(nullptr, "forget");
  }
  // At most one forward step of at most 0.5 s in the life of a lease (A2); any step back is safe.
  void step_clock() {
    if (now_ > kEnd) return;
    if (steps_back_) {
      step_us_ -= chance_.between(0, 5 * kS);
      ++seen_.backward_steps;
    } else {
      step_us_ += chance_.between(0, 500 * kMs);
    }
    note(nullptr, "step", step_us_);
    later(Micros(ttl_).count() * 2 + chance_.between(0, 20 * kS), [this] { step_clock(); });
  }
  RunSpec some_spec(int id) {
    RunSpec spec;
    spec.lock = "l";
    spec.owner = "o" + std::to_string(id);
    spec.who.holder = "h";
    spec.who.job = chance_.one_in(2) ? "a" : "b";
    spec.kill_after = Millis(chance_.between(0, 4'000));
    spec.timings = *plan_timings(
        {.ttl = ttl_, .renew_every = {}, .op_timeout = {}, .kill_after = spec.kill_after});
    if (broken_.margin_zero) spec.timings.margin = Millis(0);
    spec.on_busy = chance_.percent(80) ? OnBusy::wait : OnBusy::skip;
    spec.wait_timeout = Millis(chance_.one_in(3) ? chance_.between(1'000, 60'000) : 0);
    spec.on_store_down = chance_.one_in(2) ? OnStoreDown::wait : OnStoreDown::fail;
    spec.leftovers = chance_.one_in(3) ? Leftovers::wait : Leftovers::end;
    if (chance_.one_in(5)) spec.min_hold = Millis(chance_.between(0, 10'000));
    if (chance_.one_in(5)) spec.max_run = Millis(chance_.between(1'000, 20'000));
    if (chance_.one_in(4)) spec.who.group = "g" + std::to_string(chance_.between(0, 2));
    spec.connect_timeout = Millis(5'000);
    spec.grace_period = Millis(30'000);
    spec.seed = chance_.bits();
    return spec;
  }
  Client& add_client(RunSpec spec) {
    clients_.push_back(std::make_unique<Client>());
    Client& c = *clients_.back();
    c.id = static_cast<int>(clients_.size());
    c.clock.rate = 1.0 + static_cast<double>(chance_.between(-450, 450)) / 100'000.0;
    c.clock.offset_us = chance_.between(0, 1'000'000 * kS);
    c.spec = spec;
    c.run = std::make_unique<Run>(std::move(spec));
    feed(c, Begin{});
    return c;
  }
  void new_client() {
    if (now_ >= kEnd) return;
    Client& c = add_client(some_spec(static_cast<int>(clients_.size()) + 1));
    if (chance_.one_in(6)) later(chance_.between(0, 40 * kS), [this, &c] { crash(c); });
    if (chance_.one_in(8)) later(chance_.between(0, 30 * kS), [this, &c] { signal(c); });
    if (chance_.one_in(10)) later(chance_.between(0, 30 * kS), [this] { revoke(); });
    if (chance_.one_in(3)) later(chance_.between(0, 30 * kS), [this, &c] { pause(c); });
  }
  // ---- what befalls a client ----
  void crash(Client& c) {
    if (c.finished || c.crashed) return;
    c.ended_at = now_;
    c.crashed = true;  // SIGKILL: the parent-death signal takes the command along
    ++seen_.crashes;
    note(&c, "crash");
    end_tree(c);
    later(chance_.between(0, 5 * kS), [this] { new_client(); });
  }
  void signal(Client& c) {
    if (c.finished || c.crashed) return;
    if (!c.tree_lives()) ++seen_.cancelled;
    note(&c, "signal");
    feed(c, SignalArrived{SIGTERM});
  }
  void revoke() {
    if (server_.record("l").seat == rules::Seat::held) ++seen_.revoked;
    server_.revoke("l");
    checker_.law(server_.record("l"));
    note(nullptr, "revoke");
  }
  // A3: with the time to reap below, at most kappa (1 s) in all.
  void pause(Client& c) {
    if (c.finished || c.crashed || now_ > kEnd) return;
    c.paused_until = now_ + chance_.between(0, 500 * kMs);
    ++seen_.pauses;
    note(&c, "pause", c.paused_until);
    later(c.paused_until - now_, [this, &c] { resume(c); });
    later(chance_.between(kS, 30 * kS), [this, &c] { pause(c); });
  }
  void resume(Client& c) {
    if (now_ < c.paused_until) return;
    std::deque<Event> events = std::exchange(c.while_paused, {});
    feed(c, Tick{});
    for (const Event& e : events) feed(c, e);
  }

  // ---- the loop of the wrapper: time first, then the event, then what it answered ----
  void feed(Client& c, const Event& event) {
    if (c.finished || c.crashed) return;
    if (now_ < c.paused_until) {
      c.while_paused.push_back(event);
      return;
    }
    c.just_granted = std::holds_alternative<Granted>(event);
    const TimePoint now = c.clock.at(now_);
    if (c.run->wake_at() && *c.run->wake_at() <= now) act(c, c.run->on(Tick{}, now));
    if (!c.finished) act(c, c.run->on(event, now));
    const std::optional<TimePoint> wake = c.run->wake_at();
    if (c.finished || !wake) return;
    const std::uint64_t generation = ++c.wake_generation;
    later(c.clock.true_at(*wake) - now_, [this, &c, generation] {
      if (generation == c.wake_generation) feed(c, Tick{});
    });
  }
  void act(Client& c, const std::vector<Action>& actions) {
    for (const Action& a : actions) {
      if (const StoreRequest* ask = std::get_if<StoreRequest>(&a)) question(c, ask->request);
      if (std::holds_alternative<Launch>(a)) launch(c, std::get<Launch>(a).fence);
      if (const SendSignal* d = std::get_if<SendSignal>(&a)) deliver(c, d->signo);
      if (std::holds_alternative<Finish>(a)) finish(c);
      if (const LogLine* line = std::get_if<LogLine>(&a)) {
        note(&c, line->event.c_str());
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
    note(&c, "finish", static_cast<std::int64_t>(c.run->outcome()->kind));
    if (now_ < kEnd) later(chance_.between(0, 6 * kS), [this] { new_client(); });
  }

  // ---- the command ----
  void launch(Client& c, Fence fence) {
    if (!c.just_granted) checker_.started_ungranted();
    checker_.tree_starts(c.spec.lock, c.id, now_);
    note(&c, "launch", static_cast<std::int64_t>(fence));
    c.main_lives = true;
    c.has_other = c.other_lives = chance_.one_in(6);
    c.obeys_term = chance_.percent(60);
    if (chance_.one_in(40)) {
      end_tree(c);
      later(kMs, [this, &c] { feed(c, CannotStart{{Code::exec_denied, "x"}}); });
      return;
    }
    later(chance_.between(0, 3 * kMs), [this, &c] { feed(c, ChildStarted{}); });
    const std::int64_t life =
        chance_.percent(70) ? chance_.between(4 * kMs, 10 * kS) : chance_.between(10 * kS, 60 * kS);
    later(life, [this, &c] { main_ends(c, chance_.one_in(3) ? 1 : 0); });
    if (c.has_other) later(life + chance_.between(0, 20 * kS), [this, &c] { other_ends(c); });
  }
  void deliver(Client& c, int signo) {
    if (signo == SIGTERM && c.obeys_term) {
      later(chance_.between(0, 2 * kS), [this, &c] { main_ends(c, 143); });
      if (c.has_other) later(chance_.between(0, 2 * kS), [this, &c] { other_ends(c); });
    }
    if (signo == SIGKILL) {  // A3: with a pause that delayed it, it has taken effect and is reaped
                             // within kappa
      const std::int64_t longest = now_ < c.paused_until + kS ? 450 * kMs : 950 * kMs;
      later(chance_.between(0, longest), [this, &c] { main_ends(c, 137); });
      later(chance_.between(0, longest), [this, &c] { other_ends(c); });
    }
  }
  void main_ends(Client& c, int code) {
    if (!c.main_lives) return;
    c.main_lives = false;
    if (!c.other_lives) checker_.tree_ends(c.spec.lock, c.id);
    if (c.other_lives) ++seen_.leftovers;
    note(&c, "exit", code);
    feed(c, ChildExited{code, !c.other_lives});
  }
  void other_ends(Client& c) {
    if (!c.other_lives) return;
    c.other_lives = false;
    if (c.main_lives) return;
    checker_.tree_ends(c.spec.lock, c.id);
    note(&c, "other ends");
    feed(c, TreeEmpty{});
  }
  void end_tree(Client& c) {
    c.main_lives = c.other_lives = false;
    checker_.tree_ends(c.spec.lock, c.id);
  }

  // ---- the network: one question at a time, each on its own fate ----
  std::int64_t travel() {
    if (calm_) return chance_.between(200, 3 * kMs);
    if (chance_.percent(85)) return chance_.between(200, 20 * kMs);
    return chance_.percent(70) ? chance_.between(20 * kMs, 4 * kS)
                               : chance_.between(4 * kS, 40 * kS);
  }
  bool lost(Client& c) { return !calm_ && (cut_off(c) || chance_.percent(8)); }
  // Now and then one hears nothing for a while: the lease runs out on a live holder while others
  // ask for it.
  bool cut_off(Client& c) {
    if (now_ >= c.cut_until && chance_.one_in(25))
      c.cut_until = now_ + chance_.between(kS, Micros(ttl_).count() * 3);
    return now_ < c.cut_until;
  }
  static TimePoint give_up_of(const Request& request) {
    return std::visit([](const auto& r) { return r.give_up; }, request);
  }
  void question(Client& c, const Request& request) {
    const std::uint64_t number = ++c.question;
    const TimePoint give_up = give_up_of(request);
    later(c.clock.true_at(give_up) - now_, [this, &c, number] { hang_up(c, number, false); });
    if (c.connected) return send(c, number, request);
    if (lost(c)) return;  // the handshake: nothing was sent when it fails
    if (!calm_ && chance_.one_in(20)) {
      later(travel(), [this, &c, number] { hang_up(c, number, true); });
      return;
    }
    later(travel(), [this, &c, number, request] {
      const ServerTime heard = server_time();
      later(travel(), [this, &c, number, request, heard] {
        if (number != c.question) return;
        c.connected = true;
        hear(c, heard);
        send(c, number, request);
      });
    });
  }
  void hear(Client& c, ServerTime t) {
    c.heard = t;
    c.heard_at = c.clock.at(now_);
  }
  void hang_up(Client& c, std::uint64_t number, bool unsent) {
    if (number != c.question || c.finished) return;
    ++c.question;
    c.connected = false;
    ++seen_.lost_replies;
    feed(c, Unavailable{{Code::unreachable, "hung up"}, true, unsent});
  }
  void send(Client& c, std::uint64_t number, const Request& request) {
    const TimePoint sent_at = c.clock.at(now_);
    const TimePoint give_up = give_up_of(request);
    ServerTime not_after = c.heard + std::chrono::duration_cast<Micros>(give_up - c.heard_at);
    if (broken_.no_not_after) not_after = ServerTime{INT64_MAX};
    // What the store's clock and ours may have drifted apart since we last heard of it.
    const std::int64_t drift = (give_up - c.heard_at).count() / 50 + 600 * kMs;
    const std::int64_t dead_line = c.clock.true_at(give_up) + drift;
    if (!calm_ && chance_.one_in(30))
      later(travel(), [this, &c, number] { hang_up(c, number, false); });
    if (lost(c)) return;
    later(travel(), [this, &c, number, request, sent_at, not_after, dead_line] {
      Reply reply = execute(c, request, not_after, dead_line);
      const ServerTime heard = server_time();
      if (lost(c)) return;
      later(travel(), [this, &c, number, reply, heard, sent_at]() mutable {
        if (number != c.question || c.crashed) return;
        hear(c, heard);
        const TimePoint dated = broken_.dated_after_reply ? c.clock.at(now_) : sent_at;
        if (Granted* g = std::get_if<Granted>(&reply)) g->sent_at = dated;
        if (Renewed* k = std::get_if<Renewed>(&reply)) k->sent_at = dated;
        ++c.question;  // answered: the deadline means nothing any more
        std::visit([&](const auto& r) { feed(c, r); }, reply);
      });
    });
  }
  Reply execute(Client& c, Request request, ServerTime not_after, std::int64_t dead_line) {
    const rules::Record before = server_.record("l");
    if (broken_.release_without_owner)
      if (Release* release = std::get_if<Release>(&request)) release->claim = before.claim;
    const Reply reply = server_.execute(request, not_after);
    const std::int64_t late = steps_back_ ? -1 : now_ - dead_line;
    if (late > 0) ++seen_.late;
    checker_.executed(request, before, server_.record("l"), late);
    note(&c, "executed", static_cast<std::int64_t>(reply.index()));
    if (const Granted* g = std::get_if<Granted>(&reply)) {
      ++seen_.granted;
      checker_.granted("l", std::get<Acquire>(request).claim, g->fence);
      if (g->stole) ++seen_.stolen;
    }
    if (const Renewed* k = std::get_if<Renewed>(&reply);
        k != nullptr && k->restored && before.seat != rules::Seat::none)
      ++seen_.restored_older;
    if (std::holds_alternative<Busy>(reply)) ++seen_.busy;
    if (const Busy* busy = std::get_if<Busy>(&reply)) check_l2(*busy);
    return reply;
  }
  // L2: a run that is dead holds the lock no longer than a lease after the last request that it may
  // have had on its way.
  void check_l2(const Busy& busy) {
    // (An answer that is only repeated, to somebody who had not heard it, names no remaining time.)
    if (busy.reason != BusyReason::held || busy.remaining.count() == 0 || steps_back_) return;
    const int id = std::atoi(server_.record("l").claim.owner.c_str() + 1);
    const Client& holder = *clients_[static_cast<std::size_t>(id - 1)];
    if (holder.ended_at == 0 || now_ < holder.ended_at + Micros(ttl_).count() * 101 / 100 + 7 * kS)
      return;
    checker_.held_by_a_dead_run(id);
  }

  Chance chance_;
  const Broken broken_;
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
  bool calm_ = false, steps_back_ = false, loses_data_ = false;
};

}  // namespace

void Seen::add(const Seen& o) {
  granted += o.granted, busy += o.busy, stolen += o.stolen, late += o.late,
      lost_replies += o.lost_replies;
  killed_by_lease += o.killed_by_lease, crashes += o.crashes, pauses += o.pauses,
      revoked += o.revoked;
  rolled_back += o.rolled_back, restored_older += o.restored_older, restored += o.restored,
      waited += o.waited, cancelled += o.cancelled, forgotten += o.forgotten;
  backward_steps += o.backward_steps, leftovers += o.leftovers;
}

Report play(std::uint64_t seed, const Broken& broken, bool verbose) {
  return World(seed, broken, verbose).play();
}

}  // namespace cronlatch::model
