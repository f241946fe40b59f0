// SPDX-License-Identifier: Apache-2.0
// Parses exported text into numbers.
#pragma once

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch::testing {

class Exported {
 public:
  explicit Exported(std::string_view text) {
    while (!text.empty()) {
      const std::string line(text.substr(0, text.find('\n')));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      if (line.empty() || line[0] == '#') continue;
      const std::size_t blank = line.rfind(' ');
      if (!values_.emplace(line.substr(0, blank), std::atof(line.c_str() + blank + 1)).second)
        twice_.insert(line.substr(0, blank));
    }
  }
  bool has(const std::string& series) const { return values_.contains(series); }
  // -1 where there is no such series.
  double at(const std::string& series) const {
    const auto found = values_.find(series);
    return found == values_.end() ? -1 : found->second;
  }
  std::size_t size() const { return values_.size(); }
  const std::set<std::string>& twice() const { return twice_; }
  // `{...}` of every series of that name.
  std::vector<std::string> labels_of(const std::string& name) const {
    std::vector<std::string> out;
    for (const auto& [series, value] : values_)
      if (series.starts_with(name + "{")) out.push_back(series.substr(name.size()));
    return out;
  }
  // Series for which acquired is not released + stolen + revoked + open.
  std::vector<std::string> outlaws() const {
    std::vector<std::string> out;
    for (const std::string& labels : labels_of("cronlatch_lock_acquired_total")) {
      double ended = at("cronlatch_lock_open" + labels);
      for (const char* end : {"released", "stolen", "revoked"})
        ended += at("cronlatch_lock_" + std::string(end) + "_total" + labels);
      if (ended != at("cronlatch_lock_acquired_total" + labels)) out.push_back(labels);
    }
    return out;
  }

 private:
  std::map<std::string, double> values_;
  std::set<std::string> twice_;
};

}  // namespace cronlatch::testing
