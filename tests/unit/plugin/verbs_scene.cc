// SPDX-License-Identifier: Apache-2.0
#include "verbs_scene.h"

#include "recorded.h"

namespace cronlatch::plugin {

WallTime StillClock::wall() const { return recorded_at(); }

RecordedKubectl::RecordedKubectl()
    : results{{"get cronjobs", recorded_text("shop-cronjobs")},
              {"get pods", recorded_text("shop-pods")},
              {"get jobs", recorded_text("shop-jobs")},
              {"get events", recorded_text("shop-events")},
              {"get services", R"({"items":[]})"}} {}

Result<std::vector<KubectlResult>> RecordedKubectl::run(const std::vector<KubectlCall>& batch) {
  std::vector<KubectlResult> out;
  if (before_round) before_round();
  ++rounds;
  for (const KubectlCall& call : batch) {
    std::string words;
    for (const std::string& word : call.args) words += (words.empty() ? "" : " ") + word;
    calls.push_back(words);
    if (!call.input.empty()) inputs.push_back(call.input);
    KubectlResult result{1, "", log_lines + "Error from server (NotFound): " + words};
    std::size_t matched = 0;
    for (const auto& [key, text] : results)
      if (words.find(key) != std::string::npos && key.size() > matched) {
        matched = key.size();
        result = {0, text, ""};
      }
    out.push_back(result);
  }
  return out;
}

Result<Output> PluginVerbs::run(const std::vector<std::string>& words) {
  const auto arguments = parse_arguments(words, {});
  if (!arguments) return arguments.error();
  return arguments->verb->function(*arguments, context());
}

Context PluginVerbs::context() {
  return {kubectl, clock,
          [](const std::string& name) -> Result<Zone> { return recorded_zone(name); },
          [this](const std::string& line) { progress += line + '\n'; },
          [this](Millis d) { clock.t += d; }};
}

}  // namespace cronlatch::plugin
