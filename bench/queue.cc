// SPDX-License-Identifier: Apache-2.0
// ./dev bench queue: the hand-off of a lock in Redis, from the release until the next program has
// the grant, with 1, 50 and 500 programs that wait. Three measurements alternate in one session:
// a bare BLPOP that a second client ends by RPUSH, the hand-off with the wake-up, and the hand-off
// without it, where the next program polls as the first run in the queue does.
//   queue ROUNDS
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <thread>

#include "base/kernel_clock.h"
#include "store/open.h"
#include "support/redis_server.h"

namespace {

using namespace cronlatch;
using testing::RedisClient;
using testing::RedisServer;

constexpr Millis kPatience{20'000};
constexpr Millis kPoll{850};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "queue: %s\n", what);
  std::exit(1);
}

void step(Store& store, TimePoint limit, std::optional<Reply>& reply) {
  PollSet set;
  store.watch(set);
  set.wake_by(limit);
  std::vector<pollfd> fds;
  for (const PollSet::Watched& w : set.fds) fds.push_back({w.fd, w.events, 0});
  const Micros left = std::max(*set.deadline - boot_now(), Micros(0));
  const timespec timeout{left.count() / 1'000'000, left.count() % 1'000'000 * 1000};
  ppoll(fds.data(), fds.size(), &timeout, nullptr);
  for (std::size_t i = 0; i < fds.size(); ++i) set.fds[i].ready = fds[i].revents;
  reply = store.step(set, boot_now());
}

class Contender {
 public:
  Contender(const std::string& url, int number) : owner_("o" + std::to_string(1000 + number)) {
    StoreSpec spec;
    spec.url = url;
    auto opened = open_store(spec);
    if (!opened) fail("the store cannot be opened");
    store_ = std::move(opened).value();
  }

  Reply acquire() {
    Acquire a;
    a.lock = "bench";
    a.claim = {owner_, attempt_};
    a.ttl = Millis(600'000);
    a.if_busy = IfBusy::wait;
    a.give_up = boot_now() + kPatience;
    asked_at_ = boot_now();
    return send(a);
  }
  bool is_granted() { return std::holds_alternative<Granted>(acquire()); }
  void release() {
    Release r;
    r.lock = "bench";
    r.claim = {owner_, attempt_++};
    r.verdict = RunVerdict::failed;
    r.give_up = boot_now() + kPatience;
    if (!std::holds_alternative<Released>(send(r))) fail("a release failed");
  }
  void listen() { store_->listen("bench", owner_, boot_now() + Millis(1'900)); }
  void await_wake() {
    const TimePoint ends = boot_now() + kPatience;
    for (std::optional<Reply> reply; !store_->take_wake(); step(*store_, ends, reply))
      if (boot_now() >= ends) fail("a program was not woken");
  }
  TimePoint asked_at() const { return asked_at_; }

 private:
  Reply send(const Request& request) {
    const TimePoint start = boot_now();
    store_->send(request, start);
    std::optional<Reply> reply = store_->step(PollSet{}, start);
    while (!reply) step(*store_, start + kPatience, reply);
    return *reply;
  }

  std::unique_ptr<Backend> store_;
  std::string owner_;
  std::uint32_t attempt_ = 1;
  TimePoint asked_at_{};
};

using Samples = std::vector<double>;

double median(Samples samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double micros(Micros d) { return static_cast<double>(d.count()); }

double bare_wake_up(RedisClient& sleeper, RedisClient& waker) {
  TimePoint woken{};
  std::thread thread([&] {
    sleeper({"BLPOP", "bare", "0"});
    woken = boot_now();
  });
  std::this_thread::sleep_for(Millis(5));
  const TimePoint start = boot_now();
  waker({"RPUSH", "bare", "1"});
  thread.join();
  return micros(woken - start);
}

int calls(RedisClient& client) {
  const std::string text = client({"INFO", "commandstats"}).text;
  int sum = 0;
  for (std::size_t at = 0; (at = text.find(":calls=", at)) != std::string::npos; ++at)
    sum += std::atoi(text.c_str() + at + 7);
  return sum;
}

class Queue {
 public:
  Queue(const std::string& url, int waiters) {
    for (int i = 0; i <= waiters; ++i) waiting_.push_back(std::make_unique<Contender>(url, i));
    next_holder();
    if (!holder_->is_granted()) fail("the free lock was not granted");
    for (auto& each : waiting_) each->acquire();
  }
  Contender& first() { return *waiting_.front(); }
  // Every place stays alive.
  void refresh() {
    for (auto& each : waiting_)
      if (boot_now() - each->asked_at() > Millis(1'500)) each->acquire();
  }
  double woken_hand_off() {
    refresh();
    first().listen();
    const TimePoint start = boot_now();
    holder_->release();
    first().await_wake();
    return end_hand_off(start);
  }
  double polled_hand_off(Micros phase) {
    refresh();
    const TimePoint start = boot_now();
    holder_->release();
    std::this_thread::sleep_for(phase);
    return end_hand_off(start);
  }

 private:
  double end_hand_off(TimePoint start) {
    if (!first().is_granted()) fail("the first program was not granted the lock");
    const double took = micros(boot_now() - start);
    waiting_.push_back(std::move(holder_));
    next_holder();
    return took;
  }
  void next_holder() {
    holder_ = std::move(waiting_.front());
    waiting_.pop_front();
  }

  std::deque<std::unique_ptr<Contender>> waiting_;
  std::unique_ptr<Contender> holder_;

 public:
  void rejoin() { waiting_.back()->acquire(); }
};

void measure(int waiters, int rounds) {
  const auto server = RedisServer::start();
  RedisClient client(server->port()), sleeper(server->port());
  Queue queue("redis://127.0.0.1:" + std::to_string(server->port()), waiters);
  Samples bare, woken, polled, commands;
  for (int i = 0; i < rounds; ++i) {
    bare.push_back(bare_wake_up(sleeper, client));
    queue.refresh();
    const int before = calls(client);
    woken.push_back(queue.woken_hand_off());
    commands.push_back(calls(client) - before - 1);
    queue.rejoin();
    polled.push_back(queue.polled_hand_off(kPoll * (i % 8) / 8));
    queue.rejoin();
  }
  std::printf("| %d | %.0f us | %.0f us | %.1f | %.0f us | %.1f | %.0f |\n", waiters, median(bare),
              median(woken), median(woken) / median(bare), median(polled),
              median(polled) / median(woken), median(commands));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (rounds <= 0) return 64;
  std::printf(
      "| programs that wait | bare BLPOP | hand-off | ratio | hand-off by polling | ratio | "
      "commands, also of scripts |\n|---|---|---|---|---|---|---|\n");
  for (const int waiters : {1, 50, 500}) measure(waiters, rounds);
}
