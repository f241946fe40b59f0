// SPDX-License-Identifier: Apache-2.0
// LineSplitter: splits received bytes into complete lines. A watch sends one JSON object per line,
// and the network splits lines at any byte. Bytes after the last newline are discarded: a broken
// connection leaves an incomplete object.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace cronlatch::kube {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_length) : max_length_(max_length) {}
  // Calls `line` for every complete line, without its newline; skips empty lines. `line` returns
  // false to stop. Returns false when stopped, or when a line exceeds the maximum length.
  bool push(std::string_view bytes, const std::function<bool(std::string_view)>& line);
  bool overlong() const { return overlong_; }

 private:
  const std::size_t max_length_;
  std::string partial_;
  bool overlong_ = false;
};

}  // namespace cronlatch::kube
