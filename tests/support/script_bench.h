// SPDX-License-Identifier: Apache-2.0
// ScriptBench: the scripts on a real server, called through the codec, as the Redis store calls
// them. Time is virtual (the line of common_read.lua that reads the clock is replaced) unless the
// test selects the server's own.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/redis/script_codec.h"
#include "store/rules.h"
#include "support/redis_server.h"
#include "support/reply.h"

namespace cronlatch::testing {

using namespace std::chrono_literals;

enum class TimeOf { test, server };

class ScriptBench {
 public:
  explicit ScriptBench(std::vector<std::string> server_args = {}, TimeOf time = TimeOf::test);

  // Virtual: the time that the scripts read. The server's own: the time of its last answer.
  ServerTime now{1'763'690'000'000'000};
  Millis ttl{30'000};
  std::string lock = "ns/name";
  std::string prefix = "p:";

  void pass(Micros d) { now = now + d; }
  // Sends the command of the codec, changed for the test; returns the answer.
  RedisAnswer raw(std::vector<std::string> command);
  redis::DecodedReply send(const Request& request, ServerTime not_after);
  redis::DecodedReply send(const Request& request) { return send(request, now + 3s); }
  Revoked revoke();

  Acquire acquisition(const std::string& owner, std::uint32_t attempt = 1) const;
  Renew renewal(const std::string& owner, std::uint32_t attempt = 1);
  Release end(const std::string& owner, RunVerdict verdict = RunVerdict::succeeded,
              std::uint32_t attempt = 1);
  Reply acquire(const std::string& owner, std::uint32_t attempt = 1) {
    return send(acquisition(owner, attempt)).reply;
  }
  Reply renew(const std::string& owner, std::uint32_t attempt = 1) {
    return send(renewal(owner, attempt)).reply;
  }
  Reply release(const std::string& owner, RunVerdict verdict = RunVerdict::succeeded,
                std::uint32_t attempt = 1) {
    return send(end(owner, verdict, attempt)).reply;
  }

  // All data of the lock on the server; an unknown field is a failure.
  rules::Record record();
  // The same as the last call left it, read in one go with its answer.
  const rules::Record& last_record() const { return last_record_; }
  bool read_sets = true;  // false: last_record() has only the grant and the counters
  std::int64_t counted(const std::string& owner, std::string_view name);
  std::string key(const std::string& suffix = "") const {
    return redis::record_key(prefix, lock) + suffix;
  }

  std::unique_ptr<RedisServer> server;
  RedisClient client;
  RedisClient witness;  // always the default user, also when `client` is another user

 private:
  Fence kept_fence();

  TimeOf time_;
  rules::Record last_record_;
  std::map<std::string, std::string>
      scripts_;  // as the codec sends them -> with the test's changes
};

}  // namespace cronlatch::testing
