// SPDX-License-Identifier: Apache-2.0
// LineSplitter: bytes as they come in, whole lines out. A watch is one JSON object per line, and
// the network cuts wherever it likes. What follows the last newline is no line: it is dropped with
// the splitter, because a connection that breaks leaves half an object.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace cronlatch::kube {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest) : longest_(longest) {}
  // Calls `line` for every line that is complete now, without its newline; empty lines are left
  // out. `line` returns false to stop. False: stopped, or a line is longer than allowed.
  bool push(std::string_view bytes, const std::function<bool(std::string_view)>& line);
  bool overlong() const { return overlong_; }

 private:
  const std::size_t longest_;
  std::string begun_;
  bool overlong_ = false;
};

}  // namespace cronlatch::kube
