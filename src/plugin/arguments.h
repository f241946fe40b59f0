// SPDX-License-Identifier: Apache-2.0
// The plugin's command line, with the conventions of kubectl: -n, -A, -o, --context, --kubeconfig.
// Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cronlatch::plugin {

struct Verb;

enum class OutputFormat { table, wide, json, yaml, name };

struct Arguments {
  const Verb* verb = nullptr;  // set by parse_arguments
  bool help = false;           // the help of the verb, or the overview if none was given
  std::string name;            // the argument after the verb
  std::string namespace_name, selector;
  bool all_namespaces = false, watch = false;
  OutputFormat output = OutputFormat::table;
  std::vector<std::string> kubectl_flags;  // passed to kubectl: --context=..., ...
  std::string kubectl = "kubectl";
  // The Service of the operator's status page: "namespace/service:port"; "none": do not read it;
  // empty: search for it.
  std::string status;
  bool force = false, dry_run = false, no_wait = false;
  bool remove = false;
  std::string image, store, secret;
};

// Of `environment`, only KUBECTL_CRONLATCH_STATUS is read. The name does not begin with CRONLATCH_,
// because `cronlatch run` reports variables of that prefix that are no options.
Result<Arguments> parse_arguments(std::span<const std::string> words,
                                  std::span<const std::string> environment);

}  // namespace cronlatch::plugin
