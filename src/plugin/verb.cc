// SPDX-License-Identifier: Apache-2.0
#include "plugin/verb.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plugin/describe.h"
#include "plugin/entrypoint.h"
#include "plugin/help.h"
#include "plugin/list.h"
#include "plugin/read_cluster.h"
#include "plugin/release.h"
#include "plugin/uninstall_check.h"
#include "plugin/version.h"
#include "plugin/why.h"

namespace cronlatch::plugin {
namespace {

Result<Output> list(const Arguments& arguments, const Context& context) {
  const Result<Cluster> cluster = read_cluster(arguments, context, ReadScope::gated_runs);
  if (!cluster) return cluster.error();
  return list_output(*cluster, arguments.all_namespaces ? Namespaces::all : Namespaces::one,
                     arguments.output == OutputFormat::wide ? Width::wide : Width::normal);
}

Result<Output> one_cronjob(const Arguments& arguments, const Context& context,
                           Output (*output)(const Cluster&, const CronJob&)) {
  const Result<Cluster> cluster = read_cluster(arguments, context, ReadScope::whole_namespace);
  if (!cluster) return cluster.error();
  for (const CronJob& cronjob : cluster->cronjobs)
    if (cronjob.name == arguments.name) return output(*cluster, cronjob);
  return Error{Code::usage,
               "CronJob " + cronlatch::quoted(arguments.name) + " does not exist" +
                   (arguments.namespace_name.empty() ? " in kubectl's namespace"
                                                     : " in namespace " + arguments.namespace_name),
               "see: kubectl cronlatch -A"};
}

Result<Output> describe(const Arguments& arguments, const Context& context) {
  return one_cronjob(arguments, context, describe_output);
}

Result<Output> why(const Arguments& arguments, const Context& context) {
  return one_cronjob(arguments, context, why_output);
}

// clang-format off
constexpr std::array kVerbs = {
    Verb{"ls", "list", "", "gated CronJobs: lock, state, holder, last success, last skip, next run",
         "Without a command, `kubectl cronlatch` is `kubectl cronlatch ls`.\n",
         "--namespace --all-namespaces --selector --watch --status", true, list},
    Verb{"describe", "", "CRONJOB", "one CronJob: settings, runs, counters, advice", "",
         "--namespace --status", false, describe},
    Verb{"why", "", "CRONJOB", "why the last run did not start, or did not do its work", "",
         "--namespace --status", false, why},
    Verb{"release", "", "CRONJOB|LOCK", "revoke a lease; its holder stops its command",
         "A Job in the lock's namespace revokes the lease, with that namespace's Secret of the\n"
         "store. The command needs the right to create Jobs there.\n",
         "--namespace --status --force --dry-run --no-wait --image --store --secret", false, release},
    Verb{"entrypoint", "", "IMAGE", "an image's ENTRYPOINT, as the annotation cronlatch.dev/command",
         "It runs skopeo, crane or docker on this machine, with their logins.\n", "", false,
         entrypoint},
    Verb{"uninstall-check", "", "", "CronJobs that request a lock, and objects that an uninstall left",
         "It reads all namespaces. The exit code is 1 if a CronJob requests a lock.\n",
         "--all-namespaces --remove", false, uninstall_check},
    Verb{"version", "", "", "the version of the plugin", "", "", false, version},
    Verb{"help", "", "[COMMAND]", "the overview, or the help of one command", "", "", false, help},
};
// clang-format on

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

bool Verb::accepts(std::string_view flag) const {
  return has_word(flags, flag) || has_word(kCommonFlags, flag);
}

std::span<const Verb> verb_table() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  const auto verb = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& one) {
    return one.name == name || (!one.alias.empty() && one.alias == name);
  });
  return verb == kVerbs.end() ? nullptr : &*verb;
}

std::string usage_of(const Verb& verb) {
  std::string usage(verb.name);
  if (!verb.argument.empty()) usage += ' ' + std::string(verb.argument);
  return usage;
}

std::string verb_names() {
  std::string names;
  for (const Verb& verb : kVerbs) names += (names.empty() ? "" : ", ") + std::string(verb.name);
  return names;
}

}  // namespace cronlatch::plugin
