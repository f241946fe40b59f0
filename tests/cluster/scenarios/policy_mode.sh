#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# admission.mode policy: without the operator, the API server gates the Jobs of a CronJob with a command. Needs Kubernetes 1.34 or newer.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
if ! serves_policies v1 && ! serves_policies v1beta1; then
  skip "all checks" "this API server has no MutatingAdmissionPolicy"
  exit 0
fi
fresh_namespace pod-security.kubernetes.io/warn=restricted

restore() {
  set_values >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}
trap restore EXIT
operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name; }
scale() { kubectl -n cronlatch scale deployment cronlatch-operator --replicas="$1"; }
MARK='cronlatch\.dev/gated-by-policy'
gated_by_policy() {  # gated_by_policy CRONJOB: the API server gates its Jobs itself
  [ "$(k create job "probe-$RANDOM" --from="cronjob/$1" --dry-run=server -o "jsonpath={.metadata.annotations.$MARK}")" = main ]
}

cronjob nightly lock=true once-per-schedule=true -- "echo ran"
cronjob long lock=true -- "$HOLD"
cronjob other lock=true 'command=["sh","-c","echo ran"]' --
cronjob minutely lock=true once-per-schedule=true -- "echo ran"
check "control: with admission.mode webhook the operator gates the Jobs" admitted nightly
refuses "control: not the API server" gated_by_policy nightly
check "the chart value admission.mode is set to policy" set_values --set admission.mode=policy,clusterName=test
becomes "the API server gates Jobs" gated_by_policy nightly
becomes "the Jobs without a command are left to the webhook" admitted other
refuses "they do not have the mark of the policy" gated_by_policy other

check "the operator is scaled to zero" scale 0
becomes "the operator has no pod" finds_none operator_pods
check "a Job without a command is refused" refused_with annotated-jobs-need-the-operator.cronlatch.dev start_job other never
check "a Job with a command is created" start_job nightly run
becomes "it completes" complete run
check "its outcome is ran, with its lock" outcome_has run '"outcome":"ran"' "\"lock\":\"$NS/nightly\""
start_job long holder
needs "a run holds its lock" holds holder
start_job long second
becomes "a second run of this lock completes" complete second
check "it was skipped, and its outcome contains the holder and the cluster" outcome_has second '"outcome":"skipped"' "$NS/$(pod_of holder)@test"
check "a gated CronJob can be changed" k patch cronjob minutely --patch '{"spec":{"schedule":"* * * * *"}}'
scheduled_job() { k get jobs -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' | grep -m 1 '^minutely-'; }
needs -t 90 "the CronJob controller creates a scheduled Job" scheduled_job
k patch cronjob minutely --patch '{"spec":{"suspend":true}}' >/dev/null
job=$(scheduled_job)
becomes "it completes" complete "$job"
check "its outcome is ran" outcome_has "$job" '"outcome":"ran"'
end_command holder
becomes "the first run completes" complete holder

# A copied Job has the mark, and a gate that was edited.
k get job run -o json | jq '{apiVersion, kind, metadata: {name: "copied", annotations: .metadata.annotations}, spec: {backoffLimit: 0, template: .spec.template}}
  | del(.spec.template.metadata.labels) | .spec.template.spec.containers[0].command |= map(if startswith("--lock=") then "--lock=other/lock" else . end)' >"$DIR/copied.json"
check "a copy of a gated Job is not admitted without the operator" \
  refused_with annotated-jobs-need-the-operator.cronlatch.dev k create -f "$DIR/copied.json"

check "the operator is scaled up again" scale 2
await_rollout cronlatch cronlatch-operator
becomes "a Job without a command is admitted" admitted other
start_job other again
becomes "it completes" complete again
check "it was gated" outcome_has again '"outcome":"ran"'
finish
