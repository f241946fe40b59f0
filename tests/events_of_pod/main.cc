// SPDX-License-Identifier: Apache-2.0
// events_of_pod FILE EXIT_CODE: what the leader of the operator writes to the API server for a
// finished pod, whose container ended with this termination message and exit code. Prints a line
// for each Event (kind, name, type, reason, note, separated by tabs), and the errors that it
// counted for metrics. For tests that have the message of a real run.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "unit/operator/reconcile/leader.h"

namespace cronlatch::op::testing {
namespace {

int print_events(const char* path, int exit_code) {
  std::ifstream file(path);
  const std::string message(std::istreambuf_iterator<char>(file), {});
  World world;
  Leader leader(world, "leader");
  kube::Json pod = ended_pod("nightly-2-xyz", "pod-uid", message, exit_code);
  pod["metadata"]["resourceVersion"] = "1";
  leader.reconciler.process(updated(ObjectKind::pod, std::move(pod)));
  for (const kube::Json& event : world.api.below(kEvents))
    std::cout << kube::string_at(event, {"regarding", "kind"}) << '\t'
              << kube::string_at(event, {"regarding", "name"}) << '\t'
              << kube::string_at(event, {"type"}) << '\t' << kube::string_at(event, {"reason"})
              << '\t' << kube::string_at(event, {"note"}) << '\n';
  leader.reconciler.process(listed(ObjectKind::pod));
  leader.reconciler.process(listed(ObjectKind::cronjob));
  leader.settle();
  std::cout << "counted unreachable " << leader.counted("unreachable") << '\n';
  return 0;
}

}  // namespace
}  // namespace cronlatch::op::testing

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return cronlatch::op::testing::print_events(argv[1], std::atoi(argv[2]));
}
