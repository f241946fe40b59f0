// SPDX-License-Identifier: Apache-2.0
// The plugin's verbs: gather by kubectl, decide by the pure parts, answer with a page. The only
// part with an order of calls in it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "plugin/arguments.h"
#include "plugin/cluster.h"
#include "plugin/kubectl.h"
#include "plugin/page.h"

namespace cronlatch::plugin {

struct Surroundings {
  Kubectl& kubectl;
  const Clock& clock;
  ZoneSource zones;
  std::function<void(const std::string& line)> say;  // progress, for people; not the answer
  std::function<void(Millis)> sleep;
};

// Code::usage and what the parts say; Code::unreachable where kubectl ended with an error, which it
// has explained itself.
Result<Page> run_plugin(const Arguments& arguments, const Surroundings& around);

}  // namespace cronlatch::plugin
