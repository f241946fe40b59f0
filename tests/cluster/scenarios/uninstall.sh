#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# helm uninstall with annotated CronJobs leaves the policies: their Jobs are refused, and install and upgrade work after each uninstall.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/uninstall.sh
source "$ROOT/tests/cluster/uninstall.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap restore_release EXIT

cronjob report lock=true -- "echo ran"
needs "a CronJob is gated" gated report
check "before the uninstall, uninstall-check lists it" check_has 1 "refused by policy cronlatch-gated-jobs"

# ---- uninstall while a CronJob requests a lock ----
check "helm uninstall succeeds while a CronJob is annotated" uninstall
[ $FAILED -eq 0 ] || { kubectl -n cronlatch get all && helm history cronlatch --namespace cronlatch && upgrade_to debug; }
needs "only the policies remain" only_policies_left
check "a Job of the CronJob is refused" refused report
check "an annotated Job without a CronJob is refused" refused_with "requests a lock" job by-hand lock=other -- "echo never"
check "uninstall-check lists the CronJob and the policy that refuses its Jobs" check_has 1 "refused by policy cronlatch-gated-jobs"
check "uninstall-check deletes no policy while a CronJob requests a lock" check_has 1 "nothing was deleted" --remove
check "the policies still exist" only_policies_left
another_name() {
  helm install other "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" --set fullnameOverride=cronlatch \
    --dry-run=server
}
check "a release with another name does not adopt the policies without --take-ownership" refused_with "invalid ownership metadata" another_name

check "a release with the same name can be installed again" install_chart
check "the CronJob is gated again" gated report
check "an upgrade works after that" upgrade_to debug
check "the CronJob is gated after the upgrade" gated report

# ---- uninstall, and remove the annotations afterwards ----
check "helm uninstall succeeds again" uninstall
needs "only the policies remain again" only_policies_left
check "the printed command removes the annotations without the operator" run_printed_command report
check "its Jobs run without a lock after that" ungated report
becomes "uninstall-check finds no CronJob, and prints the command that deletes the policies" check_has 0 "uninstall-check --remove"
check "uninstall-check deletes the policies" check_has 0 "no cluster-scoped object of cronlatch exists" --remove
becomes "no object remains" nothing_left

becomes "a CronJob can be annotated while cronlatch is not installed" cronjob early lock=true -- "echo ran"
check "uninstall-check warns of a CronJob whose Jobs no policy refuses" check_has 1 "run without a lock"
check "the chart can be installed in a cluster without remaining objects" install_chart
copied() { [ "$(k get cronjob early -o 'jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\.dev/lock}')" = true ]; }
becomes "a CronJob that was annotated before gets its annotations copied to its Job template" copied
check "its Jobs are gated" gated early
check "an upgrade works after this install, too" upgrade_to info
check "its Jobs are gated after the upgrade" gated early

# ---- remove the annotations first ----
check "uninstall-check deletes no policy of an installed release" check_has 1 "nothing was deleted" --remove
check "the printed command removes the annotations with the operator" run_printed_command early
becomes "uninstall-check finds no CronJob, and prints the command to uninstall" check_has 0 "helm uninstall cronlatch -n cronlatch"
check "helm uninstall succeeds" uninstall
check "the policies are deleted" check_has 0 "no cluster-scoped object of cronlatch exists" --remove
becomes "no object remains again" nothing_left
check "the chart can be installed again" install_chart
check "an upgrade works again" upgrade_to debug
finish
