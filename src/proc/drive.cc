// SPDX-License-Identifier: Apache-2.0
// The loop. Precedence of what is true at the same time, first to last:
//   1. a deadline that has passed (after a long stall the lease is checked first)
//   2. the start, the end of the command, the end of its tree
//   3. signals
//   4. replies of the store
// 2 and 3 come in this order from the supervisor. A signal before a reply prevents the start of a
// canceled run.
#include "proc/drive.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "base/overloaded.h"
#include "proc/boot_timer.h"

namespace cronlatch {
namespace {

template <class Variant>
Event to_event(Variant from) {
  return std::visit([](auto& value) { return Event(std::move(value)); }, from);
}

// Never early: the clock's microseconds were rounded down.
timespec until(TimePoint deadline, TimePoint now) {
  const Micros left = std::max(deadline - now, Micros(0));
  return {static_cast<time_t>(left.count() / 1'000'000),
          static_cast<long>(left.count() % 1'000'000) * 1'000};
}

class Driver {
 public:
  Driver(Run& run, Store& store, Supervisor& supervisor, const Clock& clock, const Log& log,
         Programs programs)
      : run_(run),
        store_(store),
        supervisor_(supervisor),
        clock_(clock),
        log_(log),
        programs_(std::move(programs)) {}

  Outcome loop() {
    feed(Begin{});
    handle_pending();
    while (!run_.outcome()) {
      PollSet set;
      supervisor_.watch(set);
      store_.watch(set);
      if (const auto at = run_.wake_at()) set.wake_by(*at);
      wait(set);
      tick_if_due();
      handle_pending();
      if (run_.outcome()) break;
      take_reply(set);
      handle_pending();
      // After the store has sent what it can: the server works meanwhile.
      supervisor_.prepare();
    }
    return *run_.outcome();
  }

 private:
  void wait(PollSet& set) {
    timer_.set(set.deadline);
    std::vector<pollfd> fds;
    fds.reserve(set.fds.size() + 1);
    for (const PollSet::Watched& w : set.fds) fds.push_back({w.fd, w.events, 0});
    fds.push_back({timer_.fd(), POLLIN, 0});
    timespec left{};
    if (set.deadline) left = until(*set.deadline, clock_.now());
    const int ready = ::ppoll(fds.data(), fds.size(), set.deadline ? &left : nullptr, nullptr);
    if (ready <= 0) return;
    for (std::size_t i = 0; i < set.fds.size(); ++i) set.fds[i].ready = fds[i].revents;
  }

  // Passes events to Run until none is pending.
  void handle_pending() {
    while (!run_.outcome()) {
      if (std::optional<ProcEvent> event = supervisor_.next()) {
        feed(to_event(std::move(*event)));
      } else if (!inbox_.empty()) {
        const Event reply = std::move(inbox_.front());
        inbox_.pop_front();
        feed(reply);
      } else {
        return;
      }
    }
  }

  void tick_if_due() {
    const TimePoint now = clock_.now();
    if (const auto at = run_.wake_at(); at && *at <= now) execute(run_.on(Tick{}, now));
  }

  void feed(const Event& event) {
    tick_if_due();
    if (!run_.outcome()) execute(run_.on(event, clock_.now()));
  }

  void execute(const std::vector<Action>& actions) {
    for (const Action& action : actions)
      std::visit(Overloaded{
                     [this](const StoreRequest& store) { this->send(store.request); },
                     [this](const Launch& launch) { this->launch(launch); },
                     [this](const SendSignal& s) { supervisor_.signal(s.signo, s.target); },
                     [this](const SetKillTime& set) { supervisor_.kill_by(set.at); },
                     [this](const CountTasks&) { supervisor_.count_tasks(); },
                     [this](const Listen& l) { store_.listen(l.lock, l.owner, l.until); },
                     [this](const LogLine& line) { log_(line); },
                     [](const Finish&) {},
                 },
                 action);
  }

  // The reply may be available at once; Run gets it after the remaining actions.
  void send(const Request& request) {
    store_.send(request, clock_.now());
    take_reply({});
  }

  void take_reply(const PollSet& set) {
    if (std::optional<Reply> reply = store_.step(set, clock_.now()))
      inbox_.push_back(to_event(std::move(*reply)));
    if (store_.take_wake()) inbox_.push_back(Woken{});
  }

  void launch(const Launch& launch) {
    switch (launch.program) {
      case Program::command:
        start(programs_.command,
              programs_.additions ? programs_.additions(launch.fence) : std::vector<std::string>{});
        return;
      case Program::skip_command:
        start(programs_.skip_command, {});
        return;
    }
  }

  // Each program is launched once at most.
  void start(Result<Command>& program, const std::vector<std::string>& additions) {
    if (!program) {
      inbox_.push_back(CannotStart{program.error()});
      return;
    }
    Command command = std::move(program).value();
    command.env.insert(command.env.end(), additions.begin(), additions.end());
    supervisor_.start(command, store_.inherited_fd());
  }

  Run& run_;
  Store& store_;
  Supervisor& supervisor_;
  const Clock& clock_;
  const Log& log_;
  Programs programs_;
  BootTimer timer_;
  std::deque<Event> inbox_;
};

}  // namespace

Outcome drive(Run& run, Store& store, Supervisor& supervisor, const Clock& clock, const Log& log,
              Programs programs) {
  return Driver(run, store, supervisor, clock, log, std::move(programs)).loop();
}

}  // namespace cronlatch
