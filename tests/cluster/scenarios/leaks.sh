#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs that started ungated while hooks and policies were off are reported as an admission bypass; no other Jobs are.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

SELECT="[{\"namespace\":\"$NS\",\"name\":\"etcd-*\",\"annotations\":{\"lock\":\"true\"}}]"
trap 'set_values >/dev/null; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name; }
# The rules in force and their start times, as the leader records them in its Lease object.
recorded_rules() {
  kubectl -n cronlatch get lease cronlatch-operator -o json | jq -er '.metadata.annotations["cronlatch.dev/counted-pods"] | fromjson | .in_force.rules'
}
other_rules_recorded() { [ "$(recorded_rules)" != "$1" ]; }

before=$(recorded_rules)
check "the chart value select selects etcd-*" set_values --set-json "select=$SELECT"
becomes "the leader records the new rule" other_rules_recorded "$before"
cronjob annotated lock=true -- "$HOLD"
cronjob plain -- "$HOLD"
start_job plain a-late
needs "a Job without annotation runs" holds a-late

check "hooks, policies and operator are switched off" \
  set_values --set-json "select=$SELECT" --set webhook.enabled=false,policies.enabled=false,replicaCount=0
# helm keeps the policies.
check "the policies are deleted" \
  kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l app.kubernetes.io/part-of=cronlatch
becomes "the operator has no pod" finds_none operator_pods
cronjob etcd-main -- "$HOLD"
admits_all() { admitted annotated && admitted etcd-main; }
becomes "the API server admits Jobs without the webhook" admits_all
start_job annotated b-annotated
start_job etcd-main c-selected
needs "an annotated Job runs without its lock" holds b-annotated
needs "a Job of a selected CronJob runs without its lock" holds c-selected
check "a Job is annotated while it runs" k annotate job a-late cronlatch.dev/lock=late

check "hooks, policies and operator are switched on again" set_values --set-json "select=$SELECT"
becomes "the annotated Job is reported" event AdmissionBypassed Job/b-annotated 'the Job requests a lock, but the Job runs without one: container "main" is not gated'
becomes "the Job of the selected CronJob is reported" event AdmissionBypassed Job/c-selected "its CronJob etcd-main requests a lock"
leaks() {
  k get events.v1.events.k8s.io -o 'jsonpath={range .items[?(@.reason=="AdmissionBypassed")]}{.regarding.name}{"\n"}{end}'
}
# The leader checks them in the order of their names, so a-late would have been reported first.
check "the Job that was annotated while it ran is not reported" lacks a-late leaks
for job in a-late b-annotated c-selected; do end_command $job; done
for job in a-late b-annotated c-selected; do becomes "$job completes" complete $job; done
finish
