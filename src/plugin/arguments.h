// SPDX-License-Identifier: Apache-2.0
// The plugin's command line, in kubectl's manners: -n, -A, -o, --context, --kubeconfig. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace cronlatch::plugin {

enum class Verb { ls, describe, why, release, uninstall_check, help };
enum class Output { table, wide, json };

struct Arguments {
  Verb verb = Verb::ls;
  std::string name;  // of describe, why, release
  std::string namespace_name;
  bool all_namespaces = false;
  Output output = Output::table;
  std::vector<std::string> cluster_flags;  // passed on to kubectl: --context=..., ...
  std::string kubectl = "kubectl";
  // Where the operator's status page is: "namespace/service:port", "none", or empty: look for it.
  std::string status;
  bool force = false, dry_run = false, no_wait = false;
  bool remove = false;               // of uninstall-check
  std::string image, store, secret;  // of release, where no gated run is left to copy from
};

// `environment`: KUBECONFIG and its like are kubectl's own business; KUBECTL_CRONLATCH_STATUS is
// read here (a name beside the options', which every `cronlatch run` of this shell would refuse).
Result<Arguments> parse_arguments(std::span<const std::string> words,
                                  std::span<const std::string> environment);

}  // namespace cronlatch::plugin
