// SPDX-License-Identifier: Apache-2.0
// What is wrong with an object, all of it: a person who is refused must not be refused again for
// the next thing. Each finding is where, what, and what would be right.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cronlatch::op {

class Findings {
 public:
  // `fix` completes the sentence: "write for example cronlatch.dev/ttl: "5m"".
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
