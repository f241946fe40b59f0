// SPDX-License-Identifier: Apache-2.0
// Secret: text that prints as *** wherever it is shown. reveal() is called only where the text is
// sent.
#pragma once

#include <string>
#include <utility>

namespace cronlatch {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  std::string shown() const { return text_.empty() ? "" : "***"; }
  bool operator==(const Secret&) const = default;

 private:
  std::string text_;
};

}  // namespace cronlatch
