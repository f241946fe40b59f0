// SPDX-License-Identifier: Apache-2.0
// The pages of docs/reference, rendered from the tables of core. cronlatch-gen writes them, a test
// holds the committed ones to them. Nothing here touches the disk.
#pragma once

#include <string>
#include <vector>

namespace cronlatch {

struct Page {
  std::string path;  // below the project: "docs/reference/options.md"
  std::string text;
};

std::vector<Page> reference_pages();

}  // namespace cronlatch
