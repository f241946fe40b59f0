// SPDX-License-Identifier: Apache-2.0
// Output: the result of a verb before it is rendered: sections of a table or of lines for people,
// and the same data as JSON for programs. render.h makes table cells printable.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"
#include "terminal/table.h"

namespace cronlatch::plugin {

struct Section {
  std::string title{};
  std::vector<Row> table{};
  std::vector<std::string> lines{};
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json asserts, and does not throw
struct Output {
  std::vector<Section> sections;
  kube::Json json;
  std::vector<std::string> names{};  // of -o name: "cronjob.batch/nightly"
  int exit_code = 0;
};

}  // namespace cronlatch::plugin
