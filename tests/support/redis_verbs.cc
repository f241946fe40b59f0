// SPDX-License-Identifier: Apache-2.0
#include "support/redis_verbs.h"

#include "store/redis/scripts.h"

namespace cronlatch::testing {
namespace {

// ZADD <index> ..., or a script with the index as its only key.
bool enters_index(const std::vector<std::string>& request) {
  if (request[0] == "ZADD") return request.at(1).ends_with("index");
  return request[0].starts_with("EVAL") && request.at(2) == "1" && request.at(3).ends_with("index");
}

}  // namespace

RedisVerb verb_of(const std::vector<std::string>& request) {
  const std::string& command = request.at(0);
  if (command == "HELLO") return RedisVerb::hello;
  if (command == "TIME") return RedisVerb::time;
  if (command == "HGETALL" || command == "ZRANGE") return RedisVerb::read;
  if (enters_index(request)) return RedisVerb::index;
  if (!command.starts_with("EVAL")) return RedisVerb::other;
  const auto is = [&](const scripts::Script& script) {
    return request.at(1) == script.hash || request.at(1) == script.text;
  };
  if (is(scripts::acquire)) return RedisVerb::acquire;
  if (is(scripts::renew)) return RedisVerb::renew;
  if (is(scripts::release)) return RedisVerb::release;
  if (is(scripts::revoke)) return RedisVerb::revoke;
  return RedisVerb::other;
}

const char* name_of(RedisVerb verb) {
  switch (verb) {
    case RedisVerb::hello:
      return "hello";
    case RedisVerb::time:
      return "time";
    case RedisVerb::acquire:
      return "acquire";
    case RedisVerb::renew:
      return "renew";
    case RedisVerb::release:
      return "release";
    case RedisVerb::index:
      return "index";
    case RedisVerb::revoke:
      return "revoke";
    case RedisVerb::read:
      return "read";
    case RedisVerb::other:
      return "other";
  }
  return "";
}

}  // namespace cronlatch::testing
