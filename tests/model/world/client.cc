// SPDX-License-Identifier: Apache-2.0
#include "model/world/client.h"

#include <csignal>

#include "model/rules/lease_times.h"
#include "model/world/world.h"

namespace cronlatch::model {
namespace {

RunSpec with_defect(RunSpec spec, Defect defect) {
  if (defect == Defect::no_margin) spec.timings.margin = Millis(0);
  return spec;
}

Case case_of_code(int code) {
  switch (code) {
    case 69:
      return Case::exit_69;
    case 75:
      return Case::exit_75;
    case 77:
      return Case::exit_77;
    case 79:
      return Case::exit_79;
    case 124:
      return Case::exit_124;
    case 126:
      return Case::exit_126;
    case 143:
      return Case::exit_143;
    default:
      return Case::count;
  }
}

}  // namespace

Client::Client(World& world, const RunSpec& spec, int id, HostClock host_clock, Cover cover)
    : facts(facts_of(spec, id)),
      clock(host_clock),
      world_(world),
      spec_(with_defect(spec, world.defect)),
      run_(spec_, world.defect),
      connection_(world, *this),
      tree_(world, *this) {
  facts.rate = clock.rate;
  facts.cover = cover;
}

void Client::begin() {
  facts.began = world_.now();
  handle(Begin{});
}

void Client::handle(const Event& event) {
  if (facts.is_over()) return;
  if (world_.now() < facts.stopped_until) {
    while_stopped_.push_back(event);
    return;
  }
  const TimePoint now = clock.at(world_.now());
  if (const auto wake = run_.wake_at(); wake && *wake <= now) pass(Tick{});
  if (!facts.is_over() && !std::holds_alternative<Tick>(event)) pass(event);
  if (facts.is_over()) return;
  plan_wake_up();
}

void Client::pass(const Event& event) {
  note(event);
  execute(event, run_.on(event, clock.at(world_.now())));
}

void Client::plan_wake_up() {
  const auto wake = run_.wake_at();
  const std::uint64_t generation = ++wake_up_;
  if (!wake) return;
  world_.later(clock.true_at(*wake) - world_.now(), [this, generation] {
    if (generation == wake_up_) handle(Tick{});
  });
}

void Client::execute(const Event& event, const std::vector<Action>& actions) {
  const SignalArrived* arrived = std::get_if<SignalArrived>(&event);
  bool forwarded = false;
  for (const Action& action : actions) {
    if (const StoreRequest* sent = std::get_if<StoreRequest>(&action)) {
      released_ = released_ || std::holds_alternative<Release>(sent->request);
      world_.fact(&Rule::sent, facts, sent->request);
      connection_.send(sent->request);
    }
    if (const Launch* started = std::get_if<Launch>(&action)) launch(*started);
    if (const SetKillTime* set = std::get_if<SetKillTime>(&action))
      tree_.move_kill_time(set->at ? clock.true_at(*set->at) : kNever);
    if (const SendSignal* signal = std::get_if<SendSignal>(&action)) {
      const bool is_forwarded = !forwarded && arrived && signal->signo == arrived->signo;
      forwarded = forwarded || is_forwarded;
      send_signal(signal->signo, is_forwarded);
    }
    if (std::holds_alternative<CountTasks>(action))
      world_.later(kMs, [this] { handle(TasksCounted{100}); });
    if (const LogLine* line = std::get_if<LogLine>(&action)) {
      world_.note(facts.id, line->event);
      if (line->event == "expiring") world_.seen.add(Case::expiring);
      if (line->event == "waiting") world_.seen.add(Case::waited);
    }
  }
  if (arrived) world_.fact(&Rule::signal_handled, facts, arrived->signo, forwarded);
  for (const Action& action : actions)
    if (std::holds_alternative<Finish>(action)) finish();
}

void Client::launch(const Launch& action) {
  world_.note(facts.id, "launch", static_cast<std::int64_t>(action.fence));
  if (action.program == Program::skip_command) {
    facts.ran_skip_command = true;
    return world_.later(world_.random.between(kMs, kSecond), [this] {
      handle(ChildExited{5, true});
    });
  }
  facts.launched = world_.now();
  facts.ungated = action.fence == 0;
  if (facts.ungated) world_.seen.add(Case::ungated);
  tree_.launch();
}

void Client::send_signal(int signo, bool forwarded) {
  world_.note(facts.id, forwarded ? "forwards signal" : "sends signal", signo);
  if (!forwarded && (signo == SIGTERM || signo == SIGKILL)) {
    Us& first = signo == SIGTERM ? facts.term_sent : facts.kill_sent;
    first = std::min(first, world_.now());
    if (facts.exit_received == kNever) facts.stop_before_exit = true;
    if (facts.tree_end_received == kNever) facts.stop_before_tree_end = true;
  }
  world_.fact(&Rule::signaled, facts, signo, forwarded);
  tree_.send(signo);
}

void Client::finish() {
  if (facts.finished != kNever) world_.checker.keep("a run finishes twice");
  facts.finished = world_.now();
  facts.exit_code = run_.exit_code();
  facts.not_marked = run_.not_marked();
  if (facts.not_marked) world_.seen.add(Case::not_marked);
  if (const Case c = case_of_code(facts.exit_code); c != Case::count) world_.seen.add(c);
  world_.note(facts.id, "finish", facts.exit_code);
  world_.fact(&Rule::finished, facts);
}

void Client::signal(int signo) {
  if (facts.is_over()) return;
  world_.note(facts.id, "signal", signo);
  handle(SignalArrived{signo});
}

void Client::stop_for(Us duration) {
  if (facts.is_over() || world_.now() < facts.stopped_until) return;
  facts.stopped_until = world_.now() + duration;
  facts.stopped_total += duration;
  world_.seen.add(duration > kSecond ? Case::long_stop : Case::stop);
  world_.note(facts.id, "stopped", duration);
  world_.later(duration, [this] { resume(); });
}

void Client::resume() {
  world_.note(facts.id, "continues");
  const std::deque<Event> events = std::exchange(while_stopped_, {});
  handle(Tick{});
  for (const Event& event : events) handle(event);
}

void Client::crash() {
  if (facts.is_over()) return;
  facts.crashed = world_.now();
  world_.seen.add(Case::crash);
  world_.note(facts.id, "crash", static_cast<std::int64_t>(facts.cover));
  tree_.wrapper_died();
}

}  // namespace cronlatch::model
