// SPDX-License-Identifier: Apache-2.0
// Copies only lines that arrive in several parts.
#include "kube/line_splitter.h"

namespace cronlatch::kube {

bool LineSplitter::push(std::string_view bytes, const std::function<bool(std::string_view)>& line) {
  while (true) {
    const auto end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (partial_.size() + part.size() > max_length_) {
      overlong_ = true;
      return false;
    }
    if (end == std::string_view::npos) {
      partial_ += part;
      return true;
    }
    bytes.remove_prefix(end + 1);
    if (!partial_.empty()) {
      const std::string whole = std::move(partial_) + std::string(part);
      partial_.clear();
      if (!line(whole)) return false;
    } else if (!part.empty() && !line(part)) {
      return false;
    }
  }
}

}  // namespace cronlatch::kube
