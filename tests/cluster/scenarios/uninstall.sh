#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# helm uninstall with annotated CronJobs leaves the policies: their Jobs are refused, and install and upgrade work after each path.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/uninstall.sh
source "$ROOT/tests/cluster/uninstall.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap restore_release EXIT

cronjob report lock=true -- "echo ran"
needs "a CronJob is gated" gated report
check "before the uninstall the check names it" check_has 1 "refused by policy cronlatch-gated-jobs"

# ---- uninstalled while a CronJob asks for a lock ----
check "helm uninstall succeeds while a CronJob is annotated" uninstall
[ $FAILED -eq 0 ] || { kubectl -n cronlatch get all && helm history cronlatch --namespace cronlatch && upgrade_to debug; }
needs "the policies are all that is left" only_policies_left
check "a Job of the CronJob is refused" refused report
check "so is a Job made by hand" refused_with "requests a lock" job by-hand lock=other -- "echo never"
check "the check names the CronJob, and what refuses its Jobs" check_has 1 "refused by policy cronlatch-gated-jobs"
check "it deletes no policy while a CronJob asks for a lock" check_has 1 "nothing was deleted" --remove
check "the policies are still there" only_policies_left
another_name() {
  helm install other "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" --set fullnameOverride=cronlatch \
    --dry-run=server
}
check "a release of another name does not take them over unasked" refused_with "invalid ownership metadata" another_name

check "the same release installs again" install_chart
check "the CronJob is gated again" gated report
check "an upgrade works after it" upgrade_to debug
check "and the CronJob is gated" gated report

# ---- uninstalled, and the annotations removed afterwards ----
check "it is uninstalled again" uninstall
needs "the policies are left" only_policies_left
check "the printed command removes the annotations without the operator" run_printed_command report
check "its Jobs run without a lock, as the user asked" ungated report
becomes "the check is clean, and says how to delete the policies" check_has 0 "uninstall-check --remove"
check "it deletes them" check_has 0 "no cluster-scoped object of cronlatch exists" --remove
becomes "nothing is left" nothing_left

becomes "a CronJob can be annotated while nothing is installed" cronjob early lock=true -- "echo ran"
check "the check warns of a CronJob whose Jobs nothing refuses" check_has 1 "run without a lock"
check "the chart installs on a clean cluster" install_chart
copied() { [ "$(k get cronjob early -o 'jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\.dev/lock}')" = true ]; }
becomes "a CronJob that was annotated before gets its annotations copied to its Job template" copied
check "and is gated" gated early

# ---- the annotations removed first ----
check "the check deletes no policy of an installed release" check_has 1 "nothing was deleted" --remove
check "the printed command removes the annotations with the operator" run_printed_command early
becomes "the check is clean, and says how to uninstall" check_has 0 "helm uninstall cronlatch -n cronlatch"
check "helm uninstall succeeds" uninstall
check "the policies are deleted" check_has 0 "no cluster-scoped object of cronlatch exists" --remove
becomes "nothing is left again" nothing_left
check "the chart installs again" install_chart
check "an upgrade works again" upgrade_to debug
finish
