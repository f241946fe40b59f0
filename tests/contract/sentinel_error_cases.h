// SPDX-License-Identifier: Apache-2.0
// The errors of a store with Sentinels: of the Sentinels, then of the server that they name.
#pragma once

#include "contract/error_cases.h"

namespace cronlatch::testing {

inline RedisPeer::Script sentinel_that(const std::string& answer) {
  return answers("SENTINEL", answer, answers("HELLO", hello_of("sentinel")));
}
inline std::string address_of(int port) {
  return "*2\r\n" + bulk("127.0.0.1") + bulk(std::to_string(port));
}

class SentinelServers : public ErrorServers {
 public:
  // Three Sentinels, and the master.
  explicit SentinelServers(const std::vector<RedisPeer::Script>& scripts)
      : master_(scripts.back()) {
    for (std::size_t i = 0; i < 3; ++i) {
      const RedisPeer::Script& script = scripts[i];
      sentinels_.push_back(
          std::make_unique<RedisPeer>(script ? script : sentinel_that(address_of(master_.port()))));
    }
  }
  std::string url() const override {
    std::string hosts;
    for (const auto& sentinel : sentinels_)
      hosts += (hosts.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(sentinel->port()));
    return "redis+sentinel://" + hosts + "/mymaster";
  }

 private:
  RedisPeer master_;
  std::vector<std::unique_ptr<RedisPeer>> sentinels_;
};

inline std::vector<ErrorCase> sentinel_error_cases() {
  using enum Execution;
  const Code down = Code::unreachable;
  const auto master = answers("HELLO", hello_of("standalone"));
  const auto unknown_master = sentinel_that("*-1\r\n");
  const auto no_password = sentinel_that(error_answer("NOAUTH Authentication required."));
  const auto dead = sentinel_that(RedisPeer::kHangUp);
  const auto all = [&](const RedisPeer::Script& sentinel) {
    return std::vector{sentinel, sentinel, sentinel, master};
  };
  const auto at_login = [&](const std::string& answer) { return all(answers("HELLO", answer)); };
  std::vector<ErrorCase> cases = {
      // ---- all Sentinels ----
      {"UnknownMaster", Code::config, true, none, kExitConfig,
       "do not know a master named mymaster", all(unknown_master)},
      {"Idontknow", down, false, none, kExitDown, "no Sentinel named the master mymaster",
       all(sentinel_that(error_answer("IDONTKNOW I have not enough information")))},
      {"SentinelNoauth", Code::auth, true, none, kExitRights, "sentinel at 127.0.0.1",
       all(no_password)},
      {"SentinelWrongpass", Code::auth, true, none, kExitRights, "refused the user name",
       at_login(error_answer("WRONGPASS invalid username-password pair"))},
      {"SentinelNoperm", Code::acl, true, none, kExitRights, "access list denies",
       all(sentinel_that(error_answer("NOPERM this user has no permissions")))},
      {"SentinelProtected", Code::auth, true, none, kExitRights, "from its own host only",
       at_login(error_answer("DENIED Redis is running in protected mode"))},
      {"SentinelMaxClients", down, false, none, kExitDown, "too many clients",
       at_login(error_answer("ERR max number of clients reached"))},
      {"NotASentinel", Code::config, true, none, kExitConfig, "is not a Sentinel",
       at_login(hello_of("standalone"))},
      {"NoSentinelCommand", Code::config, true, none, kExitConfig, "does not have the command",
       all(sentinel_that(error_answer("ERR unknown command 'SENTINEL'")))},
      {"NoAddress", down, false, none, kExitDown, "the answer is no address of a master",
       all(sentinel_that("+OK\r\n"))},
      {"SentinelsHangUp", down, false, none, kExitDown, "closed the connection", all(dead)},
      {"SentinelsAreSilent", down, false, none, kExitDown, "did not answer in time",
       all(sentinel_that(RedisPeer::kSilence))},
      // ---- different ones: a majority decides ----
      {"TwoNoauthOneDead",
       Code::auth,
       true,
       none,
       kExitRights,
       "requires a password",
       {dead, no_password, no_password, master}},
      {"OneNoauthTwoDead",
       down,
       false,
       none,
       kExitDown,
       "no Sentinel named the master mymaster",
       {dead, no_password, dead, master}},
      {"OneUnknownOneNoauthOneDead",
       Code::auth,
       true,
       none,
       kExitRights,
       "requires a password",
       {unknown_master, no_password, dead, master}},
      {"TwoUnknownOneNoauth",
       Code::config,
       true,
       none,
       kExitConfig,
       "do not know a master",
       {unknown_master, unknown_master, no_password, master}},
      // ---- the server that they name ----
      {"NamesADeadPort",
       down,
       false,
       none,
       kExitDown,
       "127.0.0.1:1",
       {sentinel_that(address_of(1)), sentinel_that(address_of(1)), sentinel_that(address_of(1)),
        master}},
      {"NamesAReplica",
       down,
       false,
       none,
       kExitDown,
       "read-only replica",
       {nullptr, nullptr, nullptr, answers("HELLO", hello_of("standalone", "slave"))}},
      {"NamesASentinel",
       Code::config,
       true,
       none,
       kExitConfig,
       "the server is a Sentinel",
       {nullptr, nullptr, nullptr, answers("HELLO", hello_of("sentinel"))}},
      {"MasterWrongpass",
       Code::auth,
       true,
       none,
       kExitRights,
       "refused the user name",
       {nullptr, nullptr, nullptr, answers("HELLO", error_answer("WRONGPASS invalid pair"))}},
      {"NamesANodeOfACluster",
       Code::config,
       true,
       none,
       kExitConfig,
       "node of a Redis Cluster",
       {nullptr, nullptr, nullptr,
        answers("EVAL", error_answer("MOVED 1 127.0.0.1:7001"), master)}},
  };
  for (const ScriptError& each : script_errors())
    cases.push_back(routed_case("Master", each,
                                {nullptr, nullptr, nullptr, answers("EVAL", each.answer, master)}));
  return cases;
}

}  // namespace cronlatch::testing
