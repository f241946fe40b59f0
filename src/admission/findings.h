// SPDX-License-Identifier: Apache-2.0
// All errors of one object, so that the user can fix them in one edit. Each is a field path, what
// is wrong, and the fix.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cronlatch::op {

class Findings {
 public:
  // `fix` is an imperative: write for example cronlatch.dev/ttl: "5m".
  void add(const std::string& where, const std::string& what, const std::string& fix = "") {
    lines_.push_back(where + ": " + what + (fix.empty() ? "" : "; " + fix));
  }
  void add(const Error& error) {
    lines_.push_back(error.message + (error.hint.empty() ? "" : "; " + error.hint));
  }
  bool empty() const { return lines_.empty(); }
  Error error() const {
    std::string all;
    for (const std::string& line : lines_) all += (all.empty() ? "" : " | ") + line;
    return {Code::usage, all};
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace cronlatch::op
