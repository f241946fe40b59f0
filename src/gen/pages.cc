// SPDX-License-Identifier: Apache-2.0
#include "gen/pages.h"

namespace cronlatch::gen {

std::vector<Page> pages() {
  return {{"docs/reference/options.md", options_page()},
          {"docs/reference/exit-codes.md", exit_codes_page()},
          {"docs/reference/outcomes.md", outcomes_page()},
          {"docs/reference/metrics.md", metrics_page()},
          {"docs/reference/operator.md", settings_page()},
          {"docs/reference/events.md", events_page()},
          {"manifests/examples/all_options.yaml", all_options_example()},
          {"charts/cronlatch/templates/_cel_options.tpl", policy_options()},
          {"charts/cronlatch/templates/_limits.tpl", chart_limits()},
          {"packaging/man/cronlatch.1", manual_page()},
          {"packaging/man/kubectl-cronlatch.1", kubectl_manual_page()},
          {"packaging/completions/cronlatch.bash", bash_completion()},
          {"packaging/completions/_cronlatch", zsh_completion()},
          {"packaging/completions/cronlatch.fish", fish_completion()},
          {"packaging/completions/kubectl_complete-cronlatch", kubectl_completion()}};
}

std::vector<PageSection> sections() {
  return {{"docs/kubernetes.md",
           "<!-- Annotations: rendered by `./dev gen`. Do not edit up to the next comment. -->",
           "<!-- End of the annotations. -->", annotation_table()},
          {"charts/cronlatch/values.schema.json", "    \"eventReason\": {", "    \"runOptions\": {",
           event_reason_schema()},
          {"charts/cronlatch/values.schema.json", "    \"runOptions\": {", "    \"selection\": {",
           chart_options()},
          {"docs/kubectl.md",
           "<!-- Commands: rendered by `./dev gen`. Do not edit up to the next comment. -->",
           "<!-- End of the commands. -->", kubectl_verbs_table()},
          {"docs/kubectl.md",
           "<!-- Flags: rendered by `./dev gen`. Do not edit up to the next comment. -->",
           "<!-- End of the flags. -->", kubectl_flags_table()}};
}

std::optional<std::string> with_section(std::string_view file, const PageSection& section) {
  const std::string begin = "\n" + section.begin + "\n", end = "\n" + section.end + "\n";
  const std::size_t from = file.find(begin);
  const std::size_t to = from == std::string_view::npos ? from : file.find(end, from);
  if (to == std::string_view::npos) return std::nullopt;
  std::string out(file.substr(0, from + 1));
  out += section.begin + "\n" + section.text;
  return out.append(file.substr(to + 1));
}

}  // namespace cronlatch::gen
