// SPDX-License-Identifier: Apache-2.0
#include "kube/container_argv.h"

namespace cronlatch::kube {

std::vector<std::string> argv_of(const Json& container) {
  std::vector<std::string> argv = strings_at(container, {"command"});
  if (argv.empty()) return argv;
  const std::vector<std::string> args = strings_at(container, {"args"});
  argv.insert(argv.end(), args.begin(), args.end());
  return argv;
}

}  // namespace cronlatch::kube
