// SPDX-License-Identifier: Apache-2.0
// The documents that are rendered from the tables of options, exit codes, outcomes, metrics,
// settings, Events, annotations, subcommands and verbs of the plugin: references, manual pages,
// completions of shells. cronlatch-gen writes them; a test compares them with the committed files.
// Nothing here reads or writes a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cronlatch::gen {

// A file that is rendered as a whole.
struct Page {
  std::string path;  // below the project: "docs/reference/options.md"
  std::string text;
};
std::vector<Page> pages();

// The lines from `begin` up to, but not including, `end` of a file that is otherwise written by
// hand.
struct PageSection {
  std::string path;
  std::string begin, end;  // whole lines
  std::string text;        // between the two
};
std::vector<PageSection> sections();

// `file` with the new text of the section; nothing if it does not contain both lines.
std::optional<std::string> with_section(std::string_view file, const PageSection& section);

// One file each.
std::string options_page();
std::string exit_codes_page();
std::string outcomes_page();
std::string metrics_page();
std::string settings_page();
std::string events_page();
std::string event_reason_schema();
std::string all_options_example();
std::string annotation_table();
std::string chart_options();
std::string policy_options();
std::string chart_limits();
std::string kubectl_verbs_table();
std::string kubectl_flags_table();
std::string manual_page();
std::string kubectl_manual_page();
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();
std::string kubectl_completion();

// "skip, wait, fail" -> `"skip", "wait", "fail"`
std::string quoted_words(std::string_view limits);

}  // namespace cronlatch::gen
