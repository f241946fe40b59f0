// SPDX-License-Identifier: Apache-2.0
#include "queue_line.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/kernel_clock.h"
#include "support/wait_and_step.h"

namespace cronlatch::bench {
namespace {

constexpr Millis kPatience{20'000};
// Between two looks at the server.
constexpr Millis kSettled{5};
// Below the 6 s after which a place is dead.
constexpr Millis kRefresh{1'500};

}  // namespace

void fail(const std::string& what) {
  std::fprintf(stderr, "queue: %s\n", what.c_str());
  std::exit(1);
}

Contender::Contender(std::shared_ptr<Backend> store, int number)
    : store_(std::move(store)), owner_("o" + std::to_string(1000 + number)) {}

Reply Contender::acquire() {
  Acquire a;
  a.lock = "bench";
  a.claim = {owner_, attempt_};
  a.ttl = Millis(600'000);
  a.if_busy = IfBusy::wait;
  a.give_up = boot_now() + kPatience;
  asked_at_ = boot_now();
  return send(a);
}

void Contender::release() {
  Release r;
  r.lock = "bench";
  r.claim = {owner_, attempt_++};
  r.verdict = RunVerdict::failed;
  r.give_up = boot_now() + kPatience;
  if (!std::holds_alternative<Released>(send(r))) fail("a release failed");
}

void Contender::listen(const std::function<bool()>& is_listening) {
  const TimePoint ends = boot_now() + kPatience;
  store_->listen("bench", owner_, ends);
  do {
    if (boot_now() >= ends) fail("a client does not listen");
    testing::wait_and_step(*store_, boot_now() + kSettled);
  } while (!is_listening());
}

void Contender::await_wake() {
  const TimePoint ends = boot_now() + kPatience;
  while (!store_->take_wake()) {
    if (boot_now() >= ends) fail("a client was not woken");
    testing::wait_and_step(*store_, ends);
  }
}

Reply Contender::send(const Request& request) {
  const TimePoint start = boot_now();
  store_->send(request, start);
  std::optional<Reply> reply = store_->step(PollSet{}, start);
  while (!reply) reply = testing::wait_and_step(*store_, start + kPatience);
  return *reply;
}

QueueLine::QueueLine(const StoreSpec& spec, int waiters, std::size_t connections) {
  std::vector<std::shared_ptr<Backend>> stores;
  for (int i = 0; i <= waiters; ++i) {
    if (stores.size() < connections) {
      auto opened = open_store(spec);
      if (!opened) fail(opened.error().message);
      stores.push_back(std::move(opened).value());
    }
    waiting_.push_back(
        std::make_unique<Contender>(stores[static_cast<std::size_t>(i) % connections], i));
  }
  take_next_holder();
  const Reply first = holder_->acquire();
  if (const auto* failed = std::get_if<Unavailable>(&first)) fail(failed->error.message);
  if (!std::holds_alternative<Granted>(first)) fail("the free lock was not granted");
  for (auto& each : waiting_) each->acquire();
}

void QueueLine::refresh() {
  for (auto& each : waiting_)
    if (boot_now() - each->asked_at() > kRefresh) each->acquire();
}

double QueueLine::woken_hand_off(const std::function<bool()>& is_listening) {
  waiting_.front()->listen(is_listening);
  const TimePoint start = boot_now();
  holder_->release();
  waiting_.front()->await_wake();
  return finish_hand_off(start);
}

double QueueLine::polled_hand_off(Micros phase) {
  const TimePoint start = boot_now();
  holder_->release();
  std::this_thread::sleep_for(phase);
  return finish_hand_off(start);
}

double QueueLine::finish_hand_off(TimePoint start) {
  if (!waiting_.front()->is_granted()) fail("the first client was not granted the lock");
  const double took = static_cast<double>(Micros(boot_now() - start).count());
  waiting_.push_back(std::move(holder_));
  take_next_holder();
  return took;
}

void QueueLine::take_next_holder() {
  holder_ = std::move(waiting_.front());
  waiting_.pop_front();
}

}  // namespace cronlatch::bench
