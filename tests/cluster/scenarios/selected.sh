#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CronJobs of charts that offer no place for annotations are gated by the chart's value `select`, and annotations agree with it
# or are refused. Without an operator the policies refuse what nobody annotated.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

choose() {  # choose SELECTIONS [OPTION...]: as JSON
  helm upgrade cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" \
    --set-json "select=$1" "${@:2}" --wait --timeout 3m
}
operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name; }
trap 'choose "[]" >/dev/null; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
annotation() { k get cronjob "$1" -o "jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\\.dev/$2}"; }
mirrored() { [ "$(annotation "$1" lock)" = "$2" ]; }
not_chosen() { lacks cronlatch.dev k get cronjob "$1" -o 'jsonpath={.metadata.name}: {.metadata}{.spec.jobTemplate}'; }

cronjob etcd-main -- "$HOLD"
cronjob other -- "echo ran"
check "neither carries a word of ours" eval 'not_chosen etcd-main && not_chosen other'
check "the platform selects etcd-*" choose "[{\"namespace\":\"$NS\",\"name\":\"etcd-*\",\"annotations\":{\"lock\":\"etcd\",\"ttl\":\"1m\"}}]"
becomes "the one that was there before is mirrored" mirrored etcd-main etcd
check "with its options" [ "$(annotation etcd-main ttl)" = 1m ]
check "its own metadata is as it was" lacks cronlatch.dev k get cronjob etcd-main -o 'jsonpath={.metadata.name}: {.metadata.labels}{.metadata.annotations}'
cronjob etcd-late -- "echo never"
becomes "so is one that is made afterwards" mirrored etcd-late etcd

start_job etcd-main holder
needs "a run of it holds the lock" holds holder
start_job etcd-late rival
becomes "a run of the other one completes" complete rival
check "because both share the selection's lock" outcome_has rival '"outcome":"skipped"' "\"lock\":\"$NS/etcd\""
let_go holder
becomes "the holder completes" complete holder
start_job other free
becomes "what was not selected runs" complete free
check "ungated" not_chosen other

manifest CronJob etcd-late -- "echo again" >"$DIR/again.yaml"
check "applied again, as its own chart does" k apply -f "$DIR/again.yaml"
check "it is gated as before" mirrored etcd-late etcd
disagree() {
  local seen
  seen=$(k annotate cronjob etcd-late cronlatch.dev/ttl=5m 2>&1) && echo "was accepted" && return 1
  printf '%s\n' "$seen"
  [[ $seen == *'select[0]'* && $seen == *cronlatch.dev/ttl* ]]
}
check "an annotation that says otherwise is refused, and both places are named" disagree
check "one that adds an option is accepted" k annotate cronjob etcd-late cronlatch.dev/on-busy=fail
check "and mirrored beside the selection's" [ "$(annotation etcd-late on-busy)/$(annotation etcd-late lock)" = fail/etcd ]
check "without it again" k annotate cronjob etcd-late cronlatch.dev/on-busy-

cronjob db-main -- "echo ran"
cronjob labelled -- "echo ran"
MORE="[{\"namespace\":\"$NS\",\"name\":\"etcd-*\",\"annotations\":{\"lock\":\"etcd\",\"ttl\":\"1m\"}},
  {\"namespace\":\"$NS\",\"name\":\"db-*\",\"annotations\":{\"lock\":\"true\"}},
  {\"namespace\":\"$NS\",\"labels\":{\"app\":\"labelled\"},\"annotations\":{\"lock\":\"true\"}}]"
check "more is selected, and the operator is scaled to zero" choose "$MORE" --set replicaCount=0
becomes "it is gone" finds_none operator_pods
GATES="the chart value select gates"
becomes "a Job of a CronJob that existed before its rule is refused" refused_with "$GATES the Jobs of CronJob db-main" admitted db-main
check "so is a new CronJob of that name" refused_with "$GATES this CronJob" cronjob db-late -- "echo never"
check "so is one that gets a selected label" refused_with "$GATES this CronJob" k label cronjob labelled app=labelled
check "the Job hook refuses the Jobs of one that is annotated already" \
  refused_with annotated-jobs-need-the-operator.cronlatch.dev admitted etcd-main
check "a Job of a CronJob that no rule chooses is admitted" admitted other
check "such a CronJob can be changed" k annotate cronjob other example.com/a=b
check "the operator is scaled up again" choose "$MORE"
becomes "it annotates the CronJob that existed before its rule" mirrored db-main true
start_job db-main gated
becomes "a run of it completes" complete gated
check "gated" outcome_has gated '"outcome":"ran"'
check "a selected label annotates at once" k label cronjob labelled app=labelled
check "its Jobs will be gated" mirrored labelled true

check "the selection is taken away" choose '[]'
becomes "the mirror of the first goes" not_chosen etcd-main
becomes "that of the second, too" not_chosen etcd-late
start_job etcd-late ungated
becomes "its next run completes" complete ungated
check "without the gate" lacks cronlatch: log_of ungated
finish
