// SPDX-License-Identifier: Apache-2.0
// The bare wake-up in Redis: a BLPOP that a second client ends by RPUSH.
#include <cstdlib>
#include <thread>

#include "base/kernel_clock.h"
#include "queue_server.h"
#include "support/redis_server.h"

namespace cronlatch::bench {
namespace {

class RedisForQueue : public QueueServer {
 public:
  StoreSpec spec() const override {
    StoreSpec spec;
    spec.url = "redis://127.0.0.1:" + std::to_string(server_->port());
    return spec;
  }
  std::size_t max_connections() const override { return 1'000; }
  double bare_wake_up() override {
    TimePoint woken{};
    std::thread thread([&] {
      sleeper_({"BLPOP", "bare", "0"});
      woken = boot_now();
    });
    std::this_thread::sleep_for(Millis(5));
    const TimePoint start = boot_now();
    waker_({"RPUSH", "bare", "1"});
    thread.join();
    return static_cast<double>(Micros(woken - start).count());
  }
  // The wake-up stays on the server until the client reads it.
  bool is_listening() override { return true; }
  int commands_of(const std::function<void()>& prepare,
                  const std::function<void()>& work) override {
    prepare();
    const int before = calls();
    work();
    return calls() - before - 1;  // without the INFO before
  }

 private:
  int calls() {
    const std::string text = waker_({"INFO", "commandstats"}).text;
    int sum = 0;
    for (std::size_t at = 0; (at = text.find(":calls=", at)) != std::string::npos; ++at)
      sum += std::atoi(text.c_str() + at + 7);
    return sum;
  }

  std::unique_ptr<testing::RedisServer> server_ = testing::RedisServer::start();
  testing::RedisClient sleeper_{server_->port()}, waker_{server_->port()};
};

}  // namespace

std::unique_ptr<QueueServer> start_redis_for_queue() { return std::make_unique<RedisForQueue>(); }

}  // namespace cronlatch::bench
