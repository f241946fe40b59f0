// SPDX-License-Identifier: Apache-2.0
#include "admission/gate_origin.h"

#include "labels/gate_argv.h"

namespace cronlatch::op {

std::string cronjob_of_gate(const JobView& job) {
  const std::string flag = "--job=" + job.origin.namespace_name + "/";
  for (const ContainerView& container : job.containers) {
    const std::vector<std::string> argv = container.argv();
    const auto gate = find_gate(argv);
    if (!gate) continue;
    for (std::size_t i = gate->begin; i < gate->end; ++i)
      if (argv[i].starts_with(flag)) return argv[i].substr(flag.size());
  }
  return "";
}

}  // namespace cronlatch::op
