// SPDX-License-Identifier: Apache-2.0
// packaging/completions/kubectl_complete-cronlatch: kubectl runs a program of this name for
// `kubectl cronlatch ...<TAB>`. Its protocol is that of cobra: a completion in each line, then a
// directive; 4 means that file names are no completions.
#include "gen/completion_table.h"
#include "gen/pages.h"
#include "plugin/flag.h"
#include "plugin/verb.h"

namespace cronlatch::gen {
namespace {

std::string names_of_flags(const plugin::Verb& verb) {
  std::vector<std::string> words;
  for (const plugin::Flag& flag : plugin::flag_table())
    if (verb.accepts(flag.name)) words.emplace_back(flag.name);
  return joined(words, " ");
}

// `--namespace | -n | ...`: the next word is a value.
std::string flags_with_values() {
  std::vector<std::string> words;
  for (const plugin::Flag& flag : plugin::flag_table()) {
    if (flag.is_switch()) continue;
    words.emplace_back(flag.name);
    if (!flag.short_name.empty()) words.emplace_back(flag.short_name);
  }
  for (const plugin::KubectlFlag& flag : plugin::kubectl_flag_table()) {
    if (flag.is_switch) continue;
    words.emplace_back(flag.name);
    if (!flag.short_name.empty()) words.emplace_back(flag.short_name);
  }
  return joined(words, " | ");
}

std::string verbs() {
  std::vector<std::string> words;
  for (const plugin::Verb& verb : plugin::verb_table()) words.emplace_back(verb.name);
  return joined(words, " ");
}

// A command with known operands offers its flags behind a `-` alone.
std::string flags_and_operands(const plugin::Verb& verb) {
  const std::string flags = "offer " + names_of_flags(verb);
  std::string operands;
  if (verb.argument.starts_with("CRONJOB")) operands = "$(cronjobs)";
  if (verb.argument.find("COMMAND") != std::string_view::npos) operands = verbs();
  if (operands.empty()) return flags;
  return "case $current in -*) " + flags + " ;; *) offer " + operands + " ;; esac";
}

}  // namespace

std::string kubectl_completion() {
  std::string out = R"SH(#!/bin/sh
# Completion of `kubectl cronlatch`, which kubectl runs for each <TAB>; it must be in PATH. Rendered from the tables in
# src/plugin by `./dev gen`. Do not edit.
# shellcheck disable=SC2046  # names of Kubernetes contain no blanks
# Arguments: the words after `kubectl cronlatch`; the last one is incomplete.

namespace='' verb='' previous='' current=''
for word; do
  case $current in
    --namespace | -n) namespace=$word ;;
    --namespace=*) namespace=${current#*=} ;;
  esac
  case $previous in
    )SH" + flags_with_values() +
                    R"SH() ;;
    *)
      case $current in
        '' | -*) ;;
        *) verb=${verb:-$current} ;;
      esac
      ;;
  esac
  previous=$current current=$word
done

offer() {  # offer WORD...: those that begin like the current word
  for word; do
    case $word in "$current"*) echo "$word" ;; esac
  done
}

cronjobs() {
  kubectl get cronjobs ${namespace:+"--namespace=$namespace"} --output=name 2>/dev/null | sed 's,.*/,,'
}

case $previous in
  --output | -o) offer )SH" +
                    joined(plugin::output_formats(), " ") +
                    R"SH( ;;
  --namespace | -n) offer $(kubectl get namespaces --output=name 2>/dev/null | sed 's,.*/,,') ;;
  *)
    case $verb in
      '') offer )SH" +
                    verbs() + " ;;\n";
  for (const plugin::Verb& verb : plugin::verb_table()) {
    out += "      " + std::string(verb.name);
    if (!verb.alias.empty()) out += " | " + std::string(verb.alias);
    out += ") " + flags_and_operands(verb) + " ;;\n";
  }
  return out + "    esac\n    ;;\nesac\necho :4\n";
}

}  // namespace cronlatch::gen
