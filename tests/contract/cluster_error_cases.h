// SPDX-License-Identifier: Apache-2.0
// The errors of the nodes of a Redis Cluster.
#pragma once

#include <array>
#include <atomic>

#include "contract/error_cases.h"

namespace cronlatch::testing {

class ClusterServers : public ErrorServers {
 public:
  // One or two nodes. "<port>" in an answer is replaced by the port of the first one.
  explicit ClusterServers(const std::vector<RedisPeer::Script>& scripts) {
    for (const RedisPeer::Script& script : scripts)
      nodes_.push_back(std::make_unique<RedisPeer>([this, script](const auto& command) {
        std::string answer = script(command);
        const std::string name = "<port>";
        if (const std::size_t at = answer.find(name); at != std::string::npos)
          answer.replace(at, name.size(), std::to_string(port_));
        return answer;
      }));
    port_ = nodes_.front()->port();
  }
  std::string url() const override {
    std::string hosts;
    for (const auto& node : nodes_)
      hosts += (hosts.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(node->port()));
    return "redis+cluster://" + hosts;
  }

 private:
  std::atomic<int> port_{0};
  std::vector<std::unique_ptr<RedisPeer>> nodes_;
};

inline std::vector<ErrorCase> cluster_error_cases() {
  using enum Execution;
  const Code down = Code::unreachable;
  const auto node = answers("HELLO", hello_of("cluster"));
  const auto at_login = [](const std::string& answer) {
    return std::vector{answers("HELLO", answer)};
  };
  const auto to_script = [&](const std::string& answer) {
    return std::vector{answers("EVAL", answer, node)};
  };
  const auto to_script_after_a_dead_node = [&](const std::string& answer) {
    return std::vector{answers("HELLO", RedisPeer::kHangUp), answers("EVAL", answer, node)};
  };
  const std::string no_password = error_answer("NOAUTH Authentication required.");
  std::vector<ErrorCase> cases = {
      {"NotANode", Code::config, true, none, kExitConfig, "is not a node of a Redis Cluster",
       at_login(hello_of("standalone"))},
      {"ASentinel", Code::config, true, none, kExitConfig, "is a Sentinel",
       at_login(hello_of("sentinel"))},
      {"Wrongpass", Code::auth, true, none, kExitRights, "refused the user name",
       at_login(error_answer("WRONGPASS invalid username-password pair"))},
      {"Protected", Code::auth, true, none, kExitRights, "from its own host only",
       at_login(error_answer("DENIED Redis is running in protected mode"))},
      {"MaxClients", down, false, none, kExitDown, "too many clients",
       at_login(error_answer("ERR max number of clients reached"))},
      {"Clusterdown", down, false, any, kExitDown, "uncovered hash slots",
       to_script(error_answer("CLUSTERDOWN Hash slot not served"))},
      {"Tryagain", down, false, any, kExitDown, "moving keys to another node",
       to_script(error_answer("TRYAGAIN Multiple keys request during rehashing of slot"))},
      {"MovedToItself", down, false, any, kExitDown, "and no node accepted it",
       to_script(error_answer("MOVED 1 127.0.0.1:<port>"))},
      // A node that answers ASK also after ASKING.
      {"AskWithoutEnd", down, false, any, kExitDown, "and no node accepted it",
       to_script(error_answer("ASK 1 127.0.0.1:<port>"))},
      {"MovedToADeadPort", down, false, any, kExitDown, "127.0.0.1",
       to_script(error_answer("MOVED 1 127.0.0.1:1"))},
      {"MovedToNoAddress", down, false, any, kExitDown, "MOVED 1 nowhere",
       to_script(error_answer("MOVED 1 nowhere"))},
      // All keys of a lock are in one hash slot: a defect of the server or of a proxy.
      {"Crossslot", down, false, unknown, kExitDown, "CROSSSLOT",
       to_script(error_answer("CROSSSLOT Keys in request don't hash to the same slot"))},
      {"OneDeadOneNoauth", Code::auth, true, none, kExitRights, "requires a password",
       to_script_after_a_dead_node(no_password)},
      {"OneDeadOneClusterdown", down, false, any, kExitDown, "redis at 127.0.0.1",
       to_script_after_a_dead_node(error_answer("CLUSTERDOWN The cluster is down"))},
  };
  for (const ScriptError& each : script_errors())
    cases.push_back(routed_case("Node", each, to_script(each.answer)));
  return cases;
}

}  // namespace cronlatch::testing
