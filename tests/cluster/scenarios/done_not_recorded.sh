#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A scheduled run ends while Redis is stopped for longer than the mark is retried: outcome, log, Event and metric report it.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

scale() { kubectl -n store scale deployment redis --replicas="$1"; }
leader() { kubectl -n cronlatch get lease cronlatch-operator -o 'jsonpath={.spec.holderIdentity}'; }
counted() {
  kubectl get --raw "/api/v1/namespaces/cronlatch/pods/$(leader):8080/proxy/metrics" |
    grep -E "^cronlatch_run_errors_total\{namespace=\"$NS\",cronjob=\"nightly\",.*reason=\"not_marked\"\} [1-9]"
}
scheduled_job() { JOB=$(k get jobs -o 'jsonpath={.items[0].metadata.name}') && [ -n "$JOB" ]; }

SCHEDULE='* * * * *' cronjob nightly lock=true once-per-schedule=true -- "$HOLD"
needs "the CronJob starts a Job" scheduled_job
needs "its run holds the lock" holds "$JOB"
check "the CronJob is suspended" k patch cronjob nightly --type merge -p '{"spec": {"suspend": true}}'
check "Redis is stopped" scale 0
trap 'scale 1 >/dev/null; await_rollout store redis; kubectl delete namespace "$NS" --wait=false >/dev/null' EXIT
becomes "Redis has no pod" finds_none kubectl -n store get pods -l app=redis -o name
end_command "$JOB"
becomes -t 300 "the run ends with the exit code of its command" complete "$JOB"
check "its outcome is ran, and says that the mark is missing" outcome_has "$JOB" '"outcome":"ran"' '"not_marked":true'
check "its log says it" log_has "$JOB" "could not be recorded in the store"
becomes "an Event reports it" event DoneNotRecorded CronJob/nightly ''
becomes "a metric counts it" counted
finish
