// SPDX-License-Identifier: Apache-2.0
#include "plugin/commands.h"

#include "base/text.h"
#include "plugin/describe.h"
#include "plugin/gather.h"
#include "plugin/help.h"
#include "plugin/listing.h"
#include "plugin/release.h"
#include "plugin/uninstall_check.h"
#include "plugin/why.h"

namespace cronlatch::plugin {
namespace {

Result<Page> list(const Arguments& arguments, const Surroundings& around) {
  const Result<Cluster> cluster = gather(arguments, around, Scope::gated_runs);
  if (!cluster) return cluster.error();
  return list_page(*cluster, arguments.all_namespaces ? Namespaces::all : Namespaces::one,
                   arguments.output == Output::wide ? Width::wide : Width::normal);
}

// What describe and why are about.
Result<Page> about_one(const Arguments& arguments, const Surroundings& around,
                       Page (*answer)(const Cluster&, const CronJob&)) {
  const Result<Cluster> cluster = gather(arguments, around, Scope::all_of_it);
  if (!cluster) return cluster.error();
  for (const CronJob& cronjob : cluster->cronjobs)
    if (cronjob.name == arguments.name) return answer(*cluster, cronjob);
  return Error{Code::usage,
               "there is no CronJob " + cronlatch::quoted(arguments.name) +
                   (arguments.namespace_name.empty() ? " in kubectl's namespace"
                                                     : " in namespace " + arguments.namespace_name),
               "see: kubectl cronlatch -A"};
}

}  // namespace

Result<Page> run_plugin(const Arguments& arguments, const Surroundings& around) {
  switch (arguments.verb) {
    case Verb::ls:
      return list(arguments, around);
    case Verb::describe:
      return about_one(arguments, around, describe_page);
    case Verb::why:
      return about_one(arguments, around, why_page);
    case Verb::release:
      return release(arguments, around);
    case Verb::uninstall_check:
      return uninstall_check(arguments, around);
    case Verb::help:
      break;
  }
  Page page;
  page.blocks.push_back({.lines = {help_text()}});
  return page;
}

}  // namespace cronlatch::plugin
