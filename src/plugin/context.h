// SPDX-License-Identifier: Apache-2.0
// Context: the process and the machine, as the verbs use them.
#pragma once

#include <functional>
#include <string>

#include "base/time.h"
#include "plugin/cluster.h"
#include "plugin/kubectl.h"

namespace cronlatch::plugin {

struct Context {
  Kubectl& kubectl;
  const Clock& clock;
  ZoneSource zones;
  std::function<void(const std::string& line)> report_progress;  // on standard error
  std::function<void(Millis)> sleep;
  // Runs a program of the user's machine other than kubectl. Code::exec_missing: not installed.
  std::function<Result<KubectlResult>(const std::string& program,
                                      const std::vector<std::string>& args)>
      run_program{};
};

}  // namespace cronlatch::plugin
