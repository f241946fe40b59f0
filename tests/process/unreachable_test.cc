// SPDX-License-Identifier: Apache-2.0
// A store that cannot be reached because the kernel has no route to it: connect() itself fails.
#include "gated.h"

namespace cronlatch::testing {
namespace {

// A network of its own, in which the store's address appears after the run has failed to connect.
// $1 is the file for the output of the run, $2 the server's program; the run is what follows.
constexpr const char* kRouteAppears = R"sh(
  report=$1 server=$2; shift 2
  setpriv --pdeathsig KILL "$server" --port 6379 --bind 0.0.0.0 --protected-mode no --save '' --daemonize no \
    --dir "$(dirname "$report")" --logfile redis.log &
  redis=$!
  trap 'kill $redis' EXIT
  "$@" 2>"$report" &
  run=$!
  until grep -q 'Network is unreachable' "$report"; do
    kill -0 $run || exit 99
    sleep 0.02
  done
  ip address add 10.9.9.9/32 dev lo
  ip link set lo up
  wait $run
)sh";

class UnreachableStore : public Gated {
 protected:
  UnreachableStore() { store = "redis://10.9.9.9:6379"; }
  Words network() const {
    return geteuid() == 0 ? Words{"/usr/bin/unshare", "--net"}
                          : Words{"/usr/bin/unshare", "--map-root-user", "--net"};
  }
  Words in_network(const Words& command) const {
    Words words = network();
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  bool has_networks() const {
    Program probe(with_path(in_network({"/bin/true"})));
    return probe.exit_code() == 0;
  }
  ProgramSpec with_path(const Words& argv) const {
    return {.argv = argv, .env = {"PATH=/usr/sbin:/sbin:/usr/bin:/bin"}};
  }
};

// The kernel counts each connect() without a route.
constexpr const char* kCountAttempts = R"sh(
  "$@"
  code=$?
  { read -ra names && read -ra values; } </proc/net/snmp
  for i in "${!names[@]}"; do [ "${names[i]}" != OutNoRoutes ] || echo "attempts=${values[i]}"; done
  exit $code
)sh";

// A retry comes 0.2 s after a failure with this ttl: about 15 within the window.
TEST_F(UnreachableStore, IsRetriedAtTheUsualGap) {
  if (!has_networks()) GTEST_SKIP() << "NOT TESTED: a network namespace is not permitted here";
  // Given
  Words script = {"/bin/bash", "-c", kCountAttempts, "bash"};
  const Words run = run_words({"--ttl", "5s", "--connect-timeout", "3s"}, {"exit", "0"});
  script.insert(script.end(), run.begin(), run.end());
  // When
  Program program(with_path(in_network(script)));
  // Then
  EXPECT_EQ(program.exit_code(), 69) << program.err();
  EXPECT_GE(std::atoi(program.word_after("attempts=").c_str()), 5) << program.out();
}

TEST_F(UnreachableStore, IsReachedOnceThereIsARoute) {
  if (!has_networks()) GTEST_SKIP() << "NOT TESTED: a network namespace is not permitted here";
  // Given a first decision that may take long, so that only a retry can start the command
  Words script = {"/bin/bash",           "-c", kRouteAppears, "bash", dir.path("report"),
                  RedisServer::program()};
  const Words run = run_words({"--connect-timeout", "15s"}, {"touch", dir.path("started")});
  script.insert(script.end(), run.begin(), run.end());
  // When
  Program program(with_path(in_network(script)));
  // Then
  EXPECT_EQ(program.exit_code(), 0) << read_file(dir.path("report")) << program.err();
  EXPECT_TRUE(exists(dir.path("started")));
}

}  // namespace
}  // namespace cronlatch::testing
