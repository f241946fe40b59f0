// SPDX-License-Identifier: Apache-2.0
#include "plugin/version.h"

namespace cronlatch::plugin {

Result<Output> version(const Arguments&, const Context&) {
  Output output;
  output.sections.push_back({.lines = {"kubectl-cronlatch " CRONLATCH_VERSION}});
  output.json = {{"plugin", CRONLATCH_VERSION}};
  return output;
}

}  // namespace cronlatch::plugin
