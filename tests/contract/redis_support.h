// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the Redis store: a world from a StoreSpec, and checks of replies.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "contract/contract.h"
#include "store/open.h"
#include "support/redis_server.h"

namespace cronlatch::testing {

class RedisWorld : public World {
 public:
  explicit RedisWorld(StoreSpec spec) : spec_(std::move(spec)) {}
  std::unique_ptr<Backend> open() override {
    auto backend = open_store(spec_);
    if (!backend) ADD_FAILURE() << backend.error().message;
    return std::move(backend).value();
  }
  void pass(Millis) override { ADD_FAILURE() << "the time of a real server cannot be set"; }

 private:
  StoreSpec spec_;
};

inline StoreSpec spec_of(const std::string& url) {
  StoreSpec spec;
  spec.url = url;
  return spec;
}

inline std::string plain_url(const RedisServer& server) {
  return "redis://127.0.0.1:" + std::to_string(server.port());
}

// One program that uses the store of `spec`.
struct RedisProgram {
  explicit RedisProgram(const StoreSpec& spec, const std::string& owner = "aa11")
      : world(spec), program(world, "shop/report", owner) {}
  std::optional<Reply> operator()(const Request& request) { return program(request); }
  // With a short deadline, for tests in which no answer arrives.
  Acquire hasty_acquire(Millis patience = Millis(300)) const {
    Acquire request = program.acquire();
    request.give_up = boot_now() + patience;
    return request;
  }
  RedisWorld world;
  Caller program;
};

inline const Granted* granted_in(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Granted>(&*reply) : nullptr;
}
inline const Unavailable* unavailable_in(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Unavailable>(&*reply) : nullptr;
}

// The reply as text, for messages of failing tests.
inline std::string reply_text(const std::optional<Reply>& reply) {
  if (!reply) return "no reply";
  if (const auto* down = std::get_if<Unavailable>(&*reply))
    return "unavailable: " + down->error.message + " (" + down->error.hint + ")";
  return "reply " + std::to_string(reply->index());
}

// Command -> number of calls, by clients and inside scripts together.
inline std::map<std::string, int> calls(const RedisServer& server) {
  std::map<std::string, int> counted;
  std::istringstream lines(redis_command(server.port(), {"INFO", "commandstats"}).text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cmdstat_")) continue;
    const std::size_t colon = line.find(':');
    counted[line.substr(8, colon - 8)] = std::atoi(line.c_str() + colon + sizeof(":calls=") - 1);
  }
  return counted;
}

inline void wait_until(const std::function<bool()>& condition) {
  const TimePoint limit = boot_now() + kPatience;
  while (!condition()) {
    ASSERT_LT(boot_now(), limit);
    std::this_thread::sleep_for(Millis(2));
  }
}

inline Unavailable unavailable_of(const std::optional<Reply>& reply) {
  if (unavailable_in(reply) != nullptr) return *unavailable_in(reply);
  ADD_FAILURE() << reply_text(reply);
  return {};
}

struct ExpectedError {
  Code code;
  bool transient;
  std::string text;
};
inline void expect_unavailable(const std::optional<Reply>& reply, const ExpectedError& expected) {
  const Unavailable down = unavailable_of(reply);
  EXPECT_EQ(down.error.code, expected.code) << down.error.message;
  EXPECT_EQ(down.transient, expected.transient) << down.error.message;
  EXPECT_THAT(down.error.message, ::testing::HasSubstr(expected.text));
}

}  // namespace cronlatch::testing
