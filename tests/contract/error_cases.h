// SPDX-License-Identifier: Apache-2.0
// The error matrix of the stores with several servers: what each of them can return, and what a run
// reports. Scripted peers send it, because real servers do not send most of it on request.
// sentinel_errors_test.cc and its neighbors test each verb, tests/process/error_codes_test.cc the
// exit code of the released program.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "support/redis_peer.h"

namespace cronlatch::testing {

// Whether the request was certainly not executed. A request that is sent again and again can be in
// progress at its deadline.
enum class Execution { none, unknown, any };

struct ErrorCase {
  std::string name;
  Code code;
  bool is_final;  // a retry cannot help
  Execution execution;
  int exit_code;  // of a run
  std::string text;
  // The scripts of the servers, in the order of the store's URL. An empty one is a server that
  // works; of a Sentinel, one that names the last server.
  std::vector<RedisPeer::Script> servers;
};
inline void PrintTo(const ErrorCase& error_case, std::ostream* out) { *out << error_case.name; }
inline std::string name_of_case(const ErrorCase& error_case) { return error_case.name; }

inline constexpr int kExitDown = 69, kExitRights = 77, kExitConfig = 78;

// The servers of a case; they stop with the object.
class ErrorServers {
 public:
  virtual ~ErrorServers() = default;
  virtual std::string url() const = 0;
};

// `answer` to each command whose name begins with `command`; `otherwise` to the others.
inline RedisPeer::Script answers(const std::string& command, const std::string& answer,
                                 RedisPeer::Script otherwise = RedisPeer::usual) {
  return [=](const RedisPeer::Command& sent) {
    return sent[0].starts_with(command) ? answer : otherwise(sent);
  };
}
inline std::string error_answer(const std::string& text) { return "-" + text + "\r\n"; }
inline std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
inline std::string hello_of(const std::string& mode, const std::string& role = "master") {
  return "*6\r\n" + bulk("version") + bulk("7.0.15") + bulk("mode") + bulk(mode) + bulk("role") +
         bulk(role);
}

// What every server with the keys of a lock can answer to a script, except redirections.
struct ScriptError {
  const char* name;
  std::string answer;
  Code code;
  bool is_final;
  Execution execution;  // of a store with one server
  int exit_code;
  const char* text;
  bool can_be_elsewhere = false;  // a store that asks which server it is sends it again
};
// The case of such a store with `servers`. What is sent again can be in progress at its deadline.
inline ErrorCase routed_case(const std::string& prefix, const ScriptError& error,
                             std::vector<RedisPeer::Script> servers) {
  return {prefix + error.name, error.code,
          error.is_final,      error.can_be_elsewhere ? Execution::any : error.execution,
          error.exit_code,     error.text,
          std::move(servers)};
}
inline std::vector<ScriptError> script_errors() {
  using enum Execution;
  const Code down = Code::unreachable;
  return {
      {"Readonly", error_answer("READONLY You can't write against a read only replica."), down,
       false, none, kExitDown, "read-only replica", true},
      {"Masterdown", error_answer("MASTERDOWN Link with MASTER is down"), down, false, none,
       kExitDown, "without a connection to its master", true},
      {"Loading", error_answer("LOADING Redis is loading the dataset in memory"), down, false, none,
       kExitDown, "still loading", true},
      {"Busy", error_answer("BUSY Redis is busy running a script."), down, false, none, kExitDown,
       "busy with a script"},
      {"Oom", error_answer("OOM command not allowed when used memory > 'maxmemory'."), down, false,
       none, kExitDown, "out of memory"},
      {"Misconf", error_answer("MISCONF Redis is configured to save RDB snapshots"), down, false,
       none, kExitDown, "cannot save its data"},
      {"Noreplicas", error_answer("NOREPLICAS Not enough good replicas to write."), down, false,
       none, kExitDown, "too few connected replicas"},
      {"Unknown", error_answer("ERR no idea"), down, false, unknown, kExitDown, "no idea"},
      {"EndOfStream", RedisPeer::kHangUp, down, false, unknown, kExitDown, "closed the connection"},
      {"Silence", RedisPeer::kSilence, down, false, unknown, kExitDown, "did not answer in time"},
      {"Noauth", error_answer("NOAUTH Authentication required."), Code::auth, true, none,
       kExitRights, "requires a password"},
      {"Noperm", error_answer("NOPERM this user has no permissions to run the 'eval' command"),
       Code::acl, true, none, kExitRights, "access list denies"},
      {"Wrongtype",
       error_answer("WRONGTYPE Operation against a key holding the wrong kind of value"),
       Code::config, true, none, kExitConfig, "unexpected type"},
      {"Poisoned", error_answer("CRONLATCH_POISONED cronlatch:{a} fence"), Code::config, true, none,
       kExitConfig, "is damaged"},
  };
}

}  // namespace cronlatch::testing
