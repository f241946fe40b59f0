#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CronJobs with the gate written out by the chart's value `cronJobs`: gated without any webhook's help.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

values() {
  cat <<YAML
operator: {enabled: false}
cronJobs:
  report: &job
    schedule: "0 0 1 1 *"
    image: cronlatch.test/shell:1
    imagePullPolicy: Never
    containerName: main
    automountServiceAccountToken: false
    backoffLimit: 0
    command: [sh, -c, $(json_text "$HOLD")]
    lock: shared
  other:
    <<: *job
    command: [sh, -c, "echo '\$(GREETING) \$\$(GREETING)'"]
    env: [{name: GREETING, value: hello}]
  once:
    <<: *job
    command: [sh, -c, "echo ran once"]
    lock: once
    oncePerSchedule: true
YAML
}
written_out() {
  values | helm template "$NS" "$ROOT/charts/cronlatch" --kube-version 1.30.0 --namespace "$NS" \
    --values "$DIR/values.yaml" --values - | k apply -f - 2>&1
}
check "the chart's CronJobs are applied" written_out
check "they carry no annotation" lacks cronlatch.dev/lock k get cronjobs -o 'jsonpath={.items[*].spec.jobTemplate}'

start_job report holder >/dev/null
becomes "the first run holds the lock" holds holder
start_job other rival >/dev/null
becomes "a run that shares the lock completes" complete rival
check "because it was skipped" outcome_has rival '"outcome":"skipped"' '"reason":"held"' "\"lock\":\"$NS/shared\""
let_go holder >/dev/null
becomes "the first run completes" complete holder
check "and says that it ran" outcome_has holder '"outcome":"ran"'
start_job other next >/dev/null
becomes "then the other one runs" complete next
check "with variables and dollars as they were written" says next "hello \$(GREETING)"

start_job once tick >/dev/null
becomes "a scheduled time runs once" complete tick
k delete job tick >/dev/null
start_job once tick >/dev/null
becomes "the same again completes" complete tick
check "because it is done" outcome_has tick '"outcome":"skipped"' '"reason":"done"'
finish
