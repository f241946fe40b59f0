// SPDX-License-Identifier: Apache-2.0
// The errors of the servers of a quorum: each error on two of three and on all, and different ones
// on different servers. A run needs two servers.
#pragma once

#include "contract/error_cases.h"
#include "support/quorum_group.h"

namespace cronlatch::testing {

class QuorumServers : public ErrorServers {
 public:
  // Three servers; that without a script is real and empty.
  explicit QuorumServers(const std::vector<RedisPeer::Script>& scripts) {
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      RedisServer& real = QuorumGroup::shared()[i];
      if (!scripts[i]) redis_command(real.port(), {"FLUSHALL"});
      peers_.push_back(scripts[i] ? std::make_unique<RedisPeer>(scripts[i]) : nullptr);
      ports_.push_back(scripts[i] ? peers_.back()->port() : real.port());
    }
  }
  std::string url() const override { return QuorumGroup::url_of(ports_); }

 private:
  std::vector<std::unique_ptr<RedisPeer>> peers_;
  std::vector<int> ports_;
};

inline std::vector<ErrorCase> quorum_error_cases() {
  using enum Execution;
  const Code down = Code::unreachable;
  std::map<std::string, RedisPeer::Script> that;
  std::vector<ErrorCase> cases;
  for (const ScriptError& each : script_errors()) {
    const auto server = that[each.name] = RedisPeer::to_eval(each.answer);
    // The third server executed it.
    cases.push_back({std::string("Two") + each.name,
                     each.code,
                     each.is_final,
                     unknown,
                     each.exit_code,
                     each.text,
                     {server, nullptr, server}});
    cases.push_back({std::string("All") + each.name,
                     each.code,
                     each.is_final,
                     each.execution,
                     each.exit_code,
                     each.text,
                     {server, server, server}});
  }
  const auto moved = RedisPeer::to_eval(error_answer("MOVED 1 127.0.0.1:7001"));
  const auto add = [&](const char* name, Code code, bool is_final, Execution execution, int exit,
                       const char* text, std::vector<RedisPeer::Script> servers) {
    cases.push_back({name, code, is_final, execution, exit, text, std::move(servers)});
  };
  add("TwoNodesOfACluster", Code::config, true, unknown, kExitConfig, "node of a Redis Cluster",
      {moved, moved, nullptr});
  // Two that need the user: the first one is named.
  add("NoauthThenWrongtype", Code::auth, true, unknown, kExitRights, "requires a password",
      {that["Noauth"], that["Wrongtype"], nullptr});
  add("WrongtypeThenNoauth", Code::config, true, unknown, kExitConfig, "unexpected type",
      {that["Wrongtype"], that["Noauth"], nullptr});
  add("AllDiffer", Code::auth, true, none, kExitRights, "requires a password",
      {that["Oom"], that["Noauth"], that["Noperm"]});
  // One that needs the user: without the other one, a retry can succeed. The text names it.
  add("NoauthThenOom", down, false, unknown, kExitDown, "requires a password",
      {that["Noauth"], that["Oom"], nullptr});
  add("OomThenNoauth", down, false, unknown, kExitDown, "requires a password",
      {that["Oom"], nullptr, that["Noauth"]});
  add("WrongtypeThenEndOfStream", down, false, unknown, kExitDown, "unexpected type",
      {that["Wrongtype"], that["EndOfStream"], nullptr});
  add("OomThenMisconf", down, false, unknown, kExitDown, "out of memory",
      {that["Oom"], that["Misconf"], nullptr});
  add("OomNoauthAndSilence", down, false, unknown, kExitDown, "requires a password",
      {that["Oom"], that["Noauth"], that["Silence"]});
  return cases;
}

}  // namespace cronlatch::testing
