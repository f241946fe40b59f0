#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CronJobs of charts that offer no place for annotations are gated by the chart's value `select`, and annotations agree with it
# or are refused.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

choose() {  # choose SELECTIONS: as JSON
  helm upgrade cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" \
    --set-json "select=$1" --wait --timeout 3m
}
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

check "the selection is taken away" choose '[]'
becomes "the mirror of the first goes" not_chosen etcd-main
becomes "that of the second, too" not_chosen etcd-late
start_job etcd-late ungated
becomes "its next run completes" complete ungated
check "without the gate" lacks cronlatch: log_of ungated
finish
