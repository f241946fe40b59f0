#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs that started without the lock they have to take, while hooks and policies were off, are reported; no others are.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

SELECT="[{\"namespace\":\"$NS\",\"name\":\"etcd-*\",\"annotations\":{\"lock\":\"true\"}}]"
upgrade() {
  helm upgrade cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" "$@" --wait --timeout 3m
}
trap 'upgrade >/dev/null; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name; }
# Since when which rules are in force, as the leader keeps it in its Lease.
rules_kept() {
  kubectl -n cronlatch get lease cronlatch-operator -o json | jq -er '.metadata.annotations["cronlatch.dev/counted-pods"] | fromjson | .in_force.rules'
}
other_rules_kept() { [ "$(rules_kept)" != "$1" ]; }

before=$(rules_kept)
check "the platform selects etcd-*" upgrade --set-json "select=$SELECT"
becomes "the leader keeps since when" other_rules_kept "$before"
cronjob annotated lock=true -- "$HOLD"
cronjob plain -- "$HOLD"
start_job plain a-late
needs "a Job without annotation runs" holds a-late

check "hooks, policies and operator are switched off" \
  upgrade --set-json "select=$SELECT" --set webhook.enabled=false,policies.enabled=false,replicaCount=0
# helm keeps them.
check "the policies that helm has kept are deleted" \
  kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy -l app.kubernetes.io/part-of=cronlatch
becomes "they are gone" finds_none operator_pods
cronjob etcd-main -- "$HOLD"
admits_all() { admitted annotated && admitted etcd-main; }
becomes "the API server has heard of it" admits_all
start_job annotated b-annotated
start_job etcd-main c-selected
needs "an annotated Job runs without its lock" holds b-annotated
needs "so does one of a CronJob that is selected" holds c-selected
check "a Job is annotated while it runs" k annotate job a-late cronlatch.dev/lock=late

check "hooks, policies and operator are switched on again" upgrade --set-json "select=$SELECT"
becomes "the annotated Job is reported" event AdmissionBypassed Job/b-annotated 'the Job requests a lock, but the Job runs without one: container "main" is not gated'
becomes "so is the selected one" event AdmissionBypassed Job/c-selected "its CronJob etcd-main requests a lock"
leaks() {
  k get events.v1.events.k8s.io -o 'jsonpath={range .items[?(@.reason=="AdmissionBypassed")]}{.regarding.name}{"\n"}{end}'
}
# The leader judges them in the order of their names.
check "the one that was annotated while it ran is not" lacks a-late leaks
for job in a-late b-annotated c-selected; do let_go $job; done
for job in a-late b-annotated c-selected; do becomes "$job completes" complete $job; done
finish
