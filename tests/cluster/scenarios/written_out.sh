#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CronJobs that the chart value `cronJobs` renders with the gate are gated without a webhook.
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
check "they have no annotation lock" lacks cronlatch.dev/lock k get cronjobs -o 'jsonpath={.items[*].spec.jobTemplate}'

start_job report holder >/dev/null
becomes "the first run holds the lock" holds holder
start_job other second >/dev/null
becomes "a run with the same lock completes" complete second
check "it was skipped" outcome_has second '"outcome":"skipped"' '"reason":"held"' "\"lock\":\"$NS/shared\""
end_command holder >/dev/null
becomes "the first run completes" complete holder
check "its outcome is ran" outcome_has holder '"outcome":"ran"'
start_job other next >/dev/null
becomes "after that, the other CronJob runs" complete next
check "its arguments contain the references to variables unchanged" log_has next "hello \$(GREETING)"

start_job once tick >/dev/null
becomes "the first run of a scheduled time completes" complete tick
k delete job tick >/dev/null
start_job once tick >/dev/null
becomes "a second run of the same scheduled time completes" complete tick
check "it was skipped, because it is done" outcome_has tick '"outcome":"skipped"' '"reason":"done"'
finish
