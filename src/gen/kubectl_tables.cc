// SPDX-License-Identifier: Apache-2.0
// The tables of verbs and of flags in docs/kubectl.md.
#include <algorithm>

#include "gen/markdown.h"
#include "gen/pages.h"
#include "plugin/flag.h"
#include "plugin/verb.h"

namespace cronlatch::gen {
namespace {

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

std::string verbs_that_accept(const plugin::Flag& flag) {
  const auto verbs = plugin::verb_table();
  const auto accepts = [&](const plugin::Verb& verb) { return verb.accepts(flag.name); };
  if (std::all_of(verbs.begin(), verbs.end(), accepts)) return "all";
  std::string names;
  for (const plugin::Verb& verb : verbs)
    if (accepts(verb)) names += (names.empty() ? "" : ", ") + code(verb.name);
  return names;
}

}  // namespace

std::string kubectl_verbs_table() {
  std::string out = "\n" + header({"command", "purpose"});
  for (const plugin::Verb& verb : plugin::verb_table())
    out += row({code("kubectl cronlatch " + plugin::usage_of(verb)), std::string(verb.help)});
  return out + "\n";
}

std::string kubectl_flags_table() {
  std::string out = "\n" + header({"flag", "commands", "meaning"});
  for (const plugin::Flag& flag : plugin::flag_table()) {
    std::string names =
        code(flag.is_switch() ? std::string(flag.name)
                              : std::string(flag.name) + " " + std::string(flag.value));
    if (!flag.short_name.empty()) names += ", " + code(flag.short_name);
    out += row({names, verbs_that_accept(flag), one_line(flag.help)});
  }
  return out + "\n";
}

}  // namespace cronlatch::gen
