// SPDX-License-Identifier: Apache-2.0
// Cuts at newlines; copies only a line that was cut by the network.
#include "kube/line_splitter.h"

namespace cronlatch::kube {

bool LineSplitter::push(std::string_view bytes, const std::function<bool(std::string_view)>& line) {
  while (true) {
    const auto end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (begun_.size() + part.size() > longest_) {
      overlong_ = true;
      return false;
    }
    if (end == std::string_view::npos) {
      begun_ += part;
      return true;
    }
    bytes.remove_prefix(end + 1);
    if (!begun_.empty()) {
      const std::string whole = std::move(begun_) + std::string(part);
      begun_.clear();
      if (!line(whole)) return false;
    } else if (!part.empty() && !line(part)) {
      return false;
    }
  }
}

}  // namespace cronlatch::kube
