// SPDX-License-Identifier: Apache-2.0
// TestedRun: the real Run, or one with a defect of the negative controls around it.
#pragma once

#include "core/run.h"
#include "model/world/defects.h"

namespace cronlatch::model {

class TestedRun {
 public:
  TestedRun(const RunSpec& spec, Defect defect);
  std::vector<Action> on(Event event, TimePoint now);
  std::optional<TimePoint> wake_at() const;
  int exit_code() const;
  bool not_marked() const { return !forced_code_ && run_.outcome()->not_marked; }

 private:
  std::optional<int> forced_end(const Event& event, TimePoint now) const;
  void alter(Event& event);
  void alter(const Event& event, Phase phase, std::vector<Action>& actions);
  void note(const Event& event, TimePoint now, const std::vector<Action>& actions);

  Run run_;
  const RunSpec spec_;
  const Defect defect_;
  TimePoint began_{};
  bool was_busy_ = false;
  std::optional<TimePoint> mark_sent_;
  std::optional<TimePoint> finish_at_;  // second_window: the finish that is held back
  bool held_back_ = false;
  std::optional<int> forced_code_;
};

}  // namespace cronlatch::model
