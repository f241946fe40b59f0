// SPDX-License-Identifier: Apache-2.0
// Checker: passes each fact to every rule and keeps the first violation.
#pragma once

#include <string>

#include "model/rules/rule.h"

namespace cronlatch::model {

class Checker {
 public:
  Checker() : sink_([this](std::string what) { keep(std::move(what)); }), rules_(all_rules()) {
    for (auto& rule : rules_) rule->attach(&moment, &sink_);
  }
  Checker(const Checker&) = delete;

  template <class... Parameters, class... Arguments>
  void apply(void (Rule::*fact)(Parameters...), const Arguments&... arguments) {
    for (auto& rule : rules_) ((*rule).*fact)(arguments...);
  }
  void keep(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }
  const std::string& violation() const { return violation_; }  // the first one; empty: none

  Moment moment;

 private:
  std::string violation_;
  const Rule::Sink sink_;
  std::vector<std::unique_ptr<Rule>> rules_;
};

}  // namespace cronlatch::model
