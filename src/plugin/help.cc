// SPDX-License-Identifier: Apache-2.0
#include "plugin/help.h"

namespace cronlatch::plugin {

std::string help_text() {
  return
      R"(  kubectl cronlatch -A

lists the gated CronJobs: lock, state, holder, since, when the lease ends, last
success, last skip and why, next run, advice.

  kubectl cronlatch [ls] [-n NAMESPACE | -A]   all of them
  kubectl cronlatch describe CRONJOB           one: settings, runs, counters, advice
  kubectl cronlatch why CRONJOB                why the last run did not start, or not do its work
  kubectl cronlatch release CRONJOB|LOCK       revoke the lease; its holder stops
      --force      do it; without it only says what would be done
      --dry-run    print the Job that would do it, and ask the API server whether it may be made
      --no-wait    do not wait until the lock is free
      --image, --store, --secret   where no gated run is left to copy them from

  kubectl cronlatch uninstall-check            CronJobs that still ask for a lock, what happens to
                                               their Jobs without the operator, what an uninstall
                                               left; exit code 1 while a CronJob asks for a lock
      --remove     delete the policies that an uninstall left, when no CronJob asks for a lock

  -n, --namespace   as kubectl; also --context, --kubeconfig, --cluster, --user, --as, ...
  -o table|wide|json
  --status NAMESPACE/SERVICE[:PORT]|none   the operator's status page; otherwise the variable
                    KUBECTL_CRONLATCH_STATUS says it, or it is looked for
  --kubectl PROGRAM the kubectl to run

The release Job runs in the lock's namespace with that namespace's store Secret:
it needs the right to create Jobs there, and nothing else.
More: docs/kubectl.md
)";
}

}  // namespace cronlatch::plugin
