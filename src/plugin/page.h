// SPDX-License-Identifier: Apache-2.0
// Page: an answer before it is printed: blocks of a table or of lines, and the same as JSON. What
// cells hold is made printable by whoever prints them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/json.h"

namespace cronlatch::plugin {

using Cells = std::vector<std::string>;

struct Block {
  std::string title{};
  std::vector<Cells> table{};
  std::vector<std::string> lines{};
};

struct Page {
  std::vector<Block> blocks;
  kube::Json json;
  int exit_code = 0;
};

}  // namespace cronlatch::plugin
