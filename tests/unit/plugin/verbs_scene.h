// SPDX-License-Identifier: Apache-2.0
// The verbs with recorded results of kubectl. The functions are compiled once, in verbs_scene.cc.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plugin/run_verb.h"

namespace cronlatch::plugin {

struct StillClock final : Clock {
  mutable TimePoint t{};
  TimePoint now() const override { return t; }
  WallTime wall() const override;
};

// Returns the text of the longest key that the arguments of a call contain; otherwise NotFound.
class RecordedKubectl final : public Kubectl {
 public:
  RecordedKubectl();
  Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>& batch) override;

  std::map<std::string, std::string> results;
  std::vector<std::string> calls, inputs;
  std::string log_lines;  // on standard error, before the error message
  std::function<void()> before_round;
  int rounds = 0;
};

class PluginVerbs : public ::testing::Test {
 protected:
  Result<Output> run(const std::vector<std::string>& words);
  Context context();

  RecordedKubectl kubectl;
  StillClock clock;
  std::string progress;
};

}  // namespace cronlatch::plugin
