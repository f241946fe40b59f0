// SPDX-License-Identifier: Apache-2.0
// All errors or warnings of one object, so that the user can fix them in one edit. Each is a field
// path, the consequence and the fix, in this order: a text can be cut at its end.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/result.h"

namespace cronlatch::op {

// The API server can cut a warning after this length. Path, consequence and fix are not longer.
inline constexpr std::size_t kMaxWarning = 256;

struct Finding {
  std::string where;     // the field, as in the user's manifest
  std::string what;      // what is wrong, and its consequence
  std::string fix;       // an imperative: write for example cronlatch.dev/ttl: "5m"
  std::string detail{};  // of any length: names, a registry's text

  std::string head() const { return where + ": " + what + "; " + fix; }
  std::string text() const { return head() + (detail.empty() ? "" : " (" + detail + ")"); }
};

class Findings {
 public:
  void add(Finding finding) {
    const auto is_same = [&](const Finding& one) { return one.text() == finding.text(); };
    if (std::none_of(list_.begin(), list_.end(), is_same)) list_.push_back(std::move(finding));
  }
  void add(const std::string& where, const std::string& what, const std::string& fix,
           const std::string& detail = "") {
    add(Finding{where, what, fix, detail});
  }
  bool empty() const { return list_.empty(); }
  const std::vector<Finding>& list() const { return list_; }
  Error error() const {
    std::string all;
    for (const Finding& one : list_) all += (all.empty() ? "" : " | ") + one.text();
    return {Code::usage, all};
  }

 private:
  std::vector<Finding> list_;
};

}  // namespace cronlatch::op
