#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# helm uninstall refuses while CronJobs are annotated, and lists them; CronJobs annotated while nothing is installed are gated
# by the next install.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

uninstall() { helm uninstall cronlatch --namespace cronlatch --wait --timeout 90s; }
installed() { helm status cronlatch --namespace cronlatch; }
reinstall() { installed >/dev/null 2>&1 || install_chart; }
trap 'reinstall; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

cronjob report lock=true -- "echo ran"
guarded() {
  local seen
  seen=$(uninstall 2>&1) && return 1
  seen+=$(kubectl -n cronlatch logs -l app.kubernetes.io/component=guard --tail=-1 2>&1)
  printf '%s\n' "$seen"
  [[ $seen == *"$NS/report"* ]]
}
check "helm uninstall is refused, and names the CronJob" guarded
start_job report still
becomes "the CronJob is gated as before" complete still
check "and its run says so" outcome_has still '"outcome":"ran"'

k delete cronjob report >/dev/null
check "without annotated CronJobs helm uninstall succeeds" uninstall
nothing_left() {
  local left
  left=$(kubectl get mutatingwebhookconfigurations,validatingadmissionpolicies,clusterroles,clusterrolebindings -o name |
    grep cronlatch; kubectl -n cronlatch get all,leases -o name)
  printf '%s\n' "$left"
  [ -z "$left" ]
}
becomes "nothing of it is left" nothing_left

cronjob early lock=true -- "echo ran"
check "the chart is installed again" install_chart
mirrored() { [ "$(k get cronjob early -o 'jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\.dev/lock}')" = true ]; }
becomes "a CronJob that was annotated before is mirrored by the reconciler" mirrored
becomes "an annotated Job is admitted" admitted early
start_job early first
becomes "and completes" complete first
check "gated" outcome_has first '"outcome":"ran"'
finish
