#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The chart value `select` gates CronJobs without annotations of their own; annotations that contradict it are refused.
# Without an operator, the policies refuse selected CronJobs and Jobs that are not annotated.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

choose() { set_values --set-json "select=$1" "${@:2}"; }  # choose SELECTIONS [OPTION...]: as JSON
operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name; }
trap 'choose "[]" >/dev/null; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
annotation() { k get cronjob "$1" -o "jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\\.dev/$2}"; }
copied_value_is() { [ "$(annotation "$1" lock)" = "$2" ]; }
has_no_annotations() { lacks cronlatch.dev k get cronjob "$1" -o 'jsonpath={.metadata.name}: {.metadata}{.spec.jobTemplate}'; }

cronjob etcd-main -- "$HOLD"
cronjob other -- "echo ran"
check "neither CronJob has an annotation of cronlatch" eval 'has_no_annotations etcd-main && has_no_annotations other'
check "the chart value select selects etcd-*" choose "[{\"namespace\":\"$NS\",\"name\":\"etcd-*\",\"annotations\":{\"lock\":\"etcd\",\"ttl\":\"1m\"}}]"
becomes "the annotations of the rule are set on the existing CronJob" copied_value_is etcd-main etcd
check "the options of the rule are set" [ "$(annotation etcd-main ttl)" = 1m ]
check "its own metadata is not changed" lacks cronlatch.dev k get cronjob etcd-main -o 'jsonpath={.metadata.name}: {.metadata.labels}{.metadata.annotations}'
cronjob etcd-late -- "echo never"
becomes "the annotations of the rule are set on a new CronJob" copied_value_is etcd-late etcd

start_job etcd-main holder
needs "a run of the existing CronJob holds the lock" holds holder
start_job etcd-late second-run
becomes "a run of the new CronJob completes" complete second-run
check "it was skipped, because both share the rule's lock" outcome_has second-run '"outcome":"skipped"' "\"lock\":\"$NS/etcd\""
end_command holder
becomes "the holder completes" complete holder
start_job other free
becomes "a run of a CronJob that is not selected completes" complete free
check "that CronJob has no annotation of cronlatch" has_no_annotations other

manifest CronJob etcd-late -- "echo again" >"$DIR/again.yaml"
check "the manifest is applied again, as in an upgrade of its chart" k apply -f "$DIR/again.yaml"
check "its annotations are set again" copied_value_is etcd-late etcd
contradicting_ttl() {
  local seen
  seen=$(k annotate cronjob etcd-late cronlatch.dev/ttl=5m 2>&1) && echo "was accepted" && return 1
  printf '%s\n' "$seen"
  [[ $seen == *'select[0]'* && $seen == *cronlatch.dev/ttl* ]]
}
check "an annotation that contradicts the rule is refused, and the message names both" contradicting_ttl
check "an annotation that adds an option is accepted" k annotate cronjob etcd-late cronlatch.dev/on-busy=fail
check "it is copied in addition to the rule's annotations" [ "$(annotation etcd-late on-busy)/$(annotation etcd-late lock)" = fail/etcd ]
check "the added annotation is removed" k annotate cronjob etcd-late cronlatch.dev/on-busy-

cronjob db-main -- "echo ran"
cronjob labeled -- "echo ran"
cronjob labeled-before -- "echo ran"
check "a CronJob has a label that no rule selects yet" k label cronjob labeled-before app=labeled
MORE="[{\"namespace\":\"$NS\",\"name\":\"etcd-*\",\"annotations\":{\"lock\":\"etcd\",\"ttl\":\"1m\"}},
  {\"namespace\":\"$NS\",\"name\":\"db-*\",\"annotations\":{\"lock\":\"true\"}},
  {\"namespace\":\"$NS\",\"labels\":{\"app\":\"labeled\"},\"annotations\":{\"lock\":\"true\"}}]"
check "more is selected, and the operator is scaled to zero" choose "$MORE" --set replicaCount=0
becomes "the operator has no pod" finds_none operator_pods
GATES="the chart value select gates"
becomes "a Job of a CronJob that existed before its rule is refused" refused_with "$GATES the Jobs of CronJob db-main" admitted db-main
check "a new CronJob with a selected name is refused" refused_with "$GATES this CronJob" cronjob db-late -- "echo never"
check "a CronJob that had its label before its rule cannot be changed" \
  refused_with "$GATES this CronJob" k annotate cronjob labeled-before example.com/a=b
check "a CronJob to which a selected label is added is refused" refused_with "$GATES this CronJob" k label cronjob labeled app=labeled
check "the webhook refuses the Jobs of a CronJob that is annotated already" \
  refused_with annotated-jobs-need-the-operator.cronlatch.dev admitted etcd-main
check "a Job of a CronJob that no rule selects is admitted" admitted other
check "a CronJob that no rule selects can be changed" k annotate cronjob other example.com/a=b
check "the operator is scaled up again" choose "$MORE"
becomes "the operator annotates the CronJob that existed before its rule" copied_value_is db-main true
becomes "the operator annotates the CronJob that had its label before its rule" copied_value_is labeled-before true
# The leader annotates before the API server reaches its webhook.
becomes "the webhook admits its Jobs again" admitted db-main
start_job db-main gated
becomes "a run of that CronJob completes" complete gated
check "that run was gated" outcome_has gated '"outcome":"ran"'
start_job labeled-before gated-by-label
becomes "a run of the CronJob with the label completes" complete gated-by-label
check "that run was gated, too" outcome_has gated-by-label '"outcome":"ran"'
check "a selected label is added" k label cronjob labeled app=labeled
check "the annotations are set in the same request" copied_value_is labeled true

check "the rules are removed" choose '[]'
becomes "the annotations of the first CronJob are removed" has_no_annotations etcd-main
becomes "the annotations of the second CronJob are removed" has_no_annotations etcd-late
start_job etcd-late ungated
becomes "its next run completes" complete ungated
check "that run was not gated" lacks cronlatch: log_of ungated
finish
