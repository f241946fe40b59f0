#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The leader is killed while pods finish: each run has one Event on its Job, and no error is counted by two leaders.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
NS=$NS-$$  # the Events of earlier runs
fresh_namespace pod-security.kubernetes.io/warn=restricted

operator_pods() { kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'; }
metrics_of() { kubectl get --raw "/api/v1/namespaces/cronlatch/pods/$1:8080/proxy/metrics"; }
errors_of() { metrics_of "$1" | awk -v "ns=namespace=\"$NS\"" '/^cronlatch_run_errors_total\{/ && index($0, ns) { n += $NF } END { print n + 0 }'; }
# The sum over the replicas that run now; the counters of a process end with it.
errors() { local pod n=0 one; for pod in $(operator_pods); do one=$(errors_of "$pod") || return 1; n=$((n + one)); done; echo "$n"; }
counted() { [ "$(errors)" = "$1" ]; }
leader() { local pod; for pod in $(operator_pods); do metrics_of "$pod" | grep -xF 'cronlatch_leader 1' >/dev/null && echo "$pod"; done; }
one_leads() { [ "$(leader | wc -l)" = 1 ]; }
# events KIND: how many runs the Events on objects of this kind contain.
events() {
  k get events.v1.events.k8s.io -o json |
    jq "[.items[] | select(.reason == \"Refused\" and .regarding.kind == \"$1\") | .series.count // 1] | add // 0"
}
# A run that two leaders report is in two Events of the CronJob.
reported() { [ "$(events CronJob)" -ge "$1" ] && [ "$(events Job)" = "$1" ]; }
jobs_with_event() {
  k get events.v1.events.k8s.io -o 'jsonpath={range .items[?(@.reason=="Refused")]}{.regarding.kind} {.regarding.name}{"\n"}{end}' |
    grep '^Job ' | sort -u | wc -l
}
start_jobs() { local i; for ((i = $1; i <= $2; i++)); do start_job refused "run$i"; done; }  # start_jobs FIRST LAST

# A run without its Secret fails at once, and the leader counts the error.
cronjob refused lock=true store-secret=missing -- "echo never"
# By default one failed Job is kept. The pods of the others can be deleted while no replica leads.
check "the failed Jobs are kept" k patch cronjob refused --type merge --patch '{"spec": {"failedJobsHistoryLimit": 100}}'
needs "one replica is the leader" one_leads
start_jobs 1 6
becomes "each of 6 runs has an Event on its Job and one on the CronJob" reported 6
needs "6 errors are counted" counted 6

before=$(leader)
start_jobs 7 18 &
starting=$!
some_reported() { [ "$(events Job)" -gt 7 ]; }
becomes "the leader reports the first of 12 more runs" some_reported
last=$(errors_of "$before")
kill_leader() { NS=cronlatch kill_pod "$before"; }
check "the leader is killed while they finish" kill_leader
# What it counted had its Events before.
most=$(events CronJob)
wait "$starting"
becomes -t 180 "each of the 18 runs has its two Events" reported 18
check "each Job has one of them" test "$(jobs_with_event)" = 18
# Those that neither a read of the metrics nor the next leader contains were counted after the read.
between() { local now; now=$(errors) && echo "$now" && [ "$now" -ge $((18 - most)) ] && [ "$now" -le $((18 - last)) ]; }
becomes "the next leader counts those that the killed leader did not count" between

check "the operator is restarted" kubectl -n cronlatch rollout restart deployment cronlatch-operator
await_rollout cronlatch cronlatch-operator
becomes "one replica is the leader again" one_leads
start_jobs 19 19
becomes "its run is reported" reported 19
becomes "the new leader counts this run only" counted 1
check "no earlier run has further Events" reported 19
finish
