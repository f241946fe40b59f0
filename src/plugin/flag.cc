// SPDX-License-Identifier: Apache-2.0
#include "plugin/flag.h"

#include <array>

#include "base/text.h"

namespace cronlatch::plugin {
namespace {

template <std::string Arguments::*Field>
Status set_text(Arguments& arguments, const std::string& value) {
  arguments.*Field = value;
  return Done{};
}

template <bool Arguments::*Field>
Status set_switch(Arguments& arguments, const std::string& value) {
  if (value != "true" && value != "false")
    return Error{Code::usage, cronlatch::quoted(value) + " is not true or false"};
  arguments.*Field = value == "true";
  return Done{};
}

// kubectl's --dry-run=client and --dry-run=server have the same effect here: the Job is printed,
// and the API server checks it.
Status set_dry_run(Arguments& arguments, const std::string& value) {
  arguments.dry_run = value != "false" && value != "none";
  return Done{};
}

struct FormatRow {
  std::string_view name;
  OutputFormat format;
};
constexpr std::array kFormats = {
    FormatRow{"table", OutputFormat::table}, FormatRow{"wide", OutputFormat::wide},
    FormatRow{"json", OutputFormat::json}, FormatRow{"yaml", OutputFormat::yaml},
    FormatRow{"name", OutputFormat::name}};

Status set_output(Arguments& arguments, const std::string& value) {
  for (const FormatRow& row : kFormats)
    if (row.name == value) {
      arguments.output = row.format;
      return Done{};
    }
  return Error{Code::usage, cronlatch::quoted(value) + " is not an output format",
               "use table, wide, json, yaml or name"};
}

// clang-format off
constexpr std::array kFlags = {
    Flag{"--namespace", "-n", "NAMESPACE", "the namespace; without it, kubectl's",
         set_text<&Arguments::namespace_name>},
    Flag{"--all-namespaces", "-A", "", "all namespaces", set_switch<&Arguments::all_namespaces>},
    Flag{"--selector", "-l", "LABELS", "only CronJobs with these labels, as kubectl get",
         set_text<&Arguments::selector>},
    Flag{"--watch", "-w", "", "print the list again after each change, until interrupted",
         set_switch<&Arguments::watch>},
    Flag{"--status", "", "SERVICE",
         "the operator's status page: NAMESPACE/SERVICE[:PORT], or none;\n"
         "without it, KUBECTL_CRONLATCH_STATUS; without both, a search",
         set_text<&Arguments::status>},
    Flag{"--force", "", "", "revoke the lease; without it, only print the effect",
         set_switch<&Arguments::force>},
    Flag{"--dry-run", "", "", "print the Job, and check that the API server permits it",
         set_dry_run},
    Flag{"--no-wait", "", "", "do not wait until the lock is free",
         set_switch<&Arguments::no_wait>},
    Flag{"--image", "", "IMAGE", "cronlatch's image, if the namespace has no gated Job or pod",
         set_text<&Arguments::image>},
    Flag{"--store", "", "URL", "the store, in the same case", set_text<&Arguments::store>},
    Flag{"--secret", "", "NAME", "the Secret of the store, in the same case",
         set_text<&Arguments::secret>},
    Flag{"--remove", "", "", "delete remaining policies, if no CronJob requests a lock",
         set_switch<&Arguments::remove>},
    Flag{"--output", "-o", "FORMAT", "table, wide, json, yaml, or name (only ls)",
         set_output},
    Flag{"--kubectl", "", "PROGRAM", "the kubectl to run", set_text<&Arguments::kubectl>},
    Flag{"--help", "-h", "", "this help", set_switch<&Arguments::help>},
};
// clang-format on

// Sources: `kubectl options` of 1.34.4; the flags after --warnings-as-errors existed until 1.25.
constexpr std::array kKubectlFlags = {
    KubectlFlag{"--as", ""},
    KubectlFlag{"--as-group", ""},
    KubectlFlag{"--as-uid", ""},
    KubectlFlag{"--cache-dir", ""},
    KubectlFlag{"--certificate-authority", ""},
    KubectlFlag{"--client-certificate", ""},
    KubectlFlag{"--client-key", ""},
    KubectlFlag{"--cluster", ""},
    KubectlFlag{"--context", ""},
    KubectlFlag{"--disable-compression", "", true},
    KubectlFlag{"--insecure-skip-tls-verify", "", true},
    KubectlFlag{"--kubeconfig", ""},
    KubectlFlag{"--kuberc", ""},
    KubectlFlag{"--log-flush-frequency", ""},
    KubectlFlag{"--match-server-version", "", true},
    KubectlFlag{"--password", ""},
    KubectlFlag{"--profile", ""},
    KubectlFlag{"--profile-output", ""},
    KubectlFlag{"--request-timeout", ""},
    KubectlFlag{"--server", "-s"},
    KubectlFlag{"--tls-server-name", ""},
    KubectlFlag{"--token", ""},
    KubectlFlag{"--user", ""},
    KubectlFlag{"--username", ""},
    KubectlFlag{"--v", "-v"},
    KubectlFlag{"--vmodule", ""},
    KubectlFlag{"--warnings-as-errors", "", true},
    KubectlFlag{"--add-dir-header", "", true},
    KubectlFlag{"--alsologtostderr", "", true},
    KubectlFlag{"--log-backtrace-at", ""},
    KubectlFlag{"--log-dir", ""},
    KubectlFlag{"--log-file", ""},
    KubectlFlag{"--log-file-max-size", ""},
    KubectlFlag{"--logtostderr", "", true},
    KubectlFlag{"--one-output", "", true},
    KubectlFlag{"--skip-headers", "", true},
    KubectlFlag{"--skip-log-headers", "", true},
    KubectlFlag{"--stderrthreshold", ""},
};

}  // namespace

std::span<const Flag> flag_table() { return kFlags; }
std::vector<std::string> output_formats() {
  std::vector<std::string> names;
  for (const FormatRow& row : kFormats) names.emplace_back(row.name);
  return names;
}
std::span<const KubectlFlag> kubectl_flag_table() { return kKubectlFlags; }

}  // namespace cronlatch::plugin
