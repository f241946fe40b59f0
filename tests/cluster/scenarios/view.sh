#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prometheus has the exact counts of acquired, skipped, stolen, revoked and refused; every query of both dashboards returns data.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
NS=$NS-$$  # the store contains the counters of earlier runs
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'stop_prometheus; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

began=$SECONDS
pods_of_operator "$NAME"
api_server_of "$NAME"
textfiles
start_prometheus
needs "a Prometheus runs" prometheus_ready

cronjob plain lock=true alert-after=26h -- "echo done"
cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared alert-after=off -- "echo never"
cronjob victim lock=fragile ttl=30s -- "$HOLD"
cronjob successor lock=fragile ttl=10s on-busy=wait -- "echo done"
cronjob stopped lock=true ttl=30s kill-after=1s -- "$HOLD"
cronjob wrong-password lock=true store-secret=wrong -- "echo never"
kubectl -n "$NS" create secret generic wrong --from-literal=username=cron --from-literal=password=wrong \
  --from-file="$DIR"/store/ca.crt --from-file="$DIR"/store/tls.crt --from-file="$DIR"/store/tls.key >/dev/null
all_zero() { query_is "count($(lock_stat lock_acquired_total) == 0)" 7; }
becomes "each gated CronJob has a counter of 0 before its first run" all_zero
limit() { query_is "sum by (cronjob) (cronlatch_success_deadline_seconds{namespace=\"$NS\", cronjob=~\"plain|second\"})" "cronjob=plain 93600"; }
becomes "the limit of alert-after is exported, and none with the value off" limit
# Its schedule is the first of January.
due() { query_is "sum by (cronjob) (day_of_year(cronlatch_cronjob_created_timestamp_seconds{namespace=\"$NS\", cronjob=\"first\"} + cronlatch_success_deadline_seconds))" "cronjob=first 1"; }
becomes "without alert-after, a CronJob that never succeeded is due at a scheduled time" due

start_job first holder
start_job victim killed
start_job stopped revoked
start_job wrong-password refused
start_job plain one
needs "the first run holds the shared lock" holds holder
needs "the second run holds its lock" holds killed
needs "a third run holds its own lock" holds revoked
open_ones() { query_is "$(of_jobs lock_held) == 1" "cronjob=first 1" "cronjob=stopped 1" "cronjob=victim 1"; }
becomes "three locks are exported as held" open_ones

start_job second skip1
start_job second skip2
start_job first skip3
start_job successor waiter
becomes "a run completes" complete one
becomes "two runs are skipped" complete skip2
becomes "a third run is skipped" complete skip3
start_job plain two
becomes "another run completes" complete two
check "the second run is killed" kill_pod "$(pod_of killed)"
check "the lease of the third run is revoked" client release "$NS/stopped" --force
becomes "the Job of the third run fails" failed revoked
becomes "another run acquires the lock of the killed run" complete waiter
becomes "the run with a wrong password fails" failed refused
end_command holder
becomes "the first run completes" complete holder
check "an invalid annotation is refused" refused_with cronlatch.dev/lock cronjob wrong lock=yes -- "echo never"

acquired=("cronjob=plain 2" "cronjob=first 1" "cronjob=victim 1" "cronjob=successor 1" "cronjob=stopped 1")
acquired() { query_is "$(of_jobs lock_acquired_total) > 0" "${acquired[@]}"; }
skipped() { query_is "sum by (cronjob, reason) ($(lock_stat lock_skipped_total reason)) > 0" "cronjob=second reason=held 2" "cronjob=first reason=held 1"; }
stolen() { query_is "$(of_jobs lock_stolen_total) > 0" "cronjob=victim 1"; }
revoked() { query_is "$(of_jobs lock_revoked_total) > 0" "cronjob=stopped 1"; }
lost() { query_is "$(of_jobs lock_lost_total) > 0" "cronjob=stopped 1"; }
released() { query_is "$(of_jobs lock_released_total) > 0" "cronjob=plain 2" "cronjob=first 1" "cronjob=successor 1"; }
becomes "acquired is the number of grants of each CronJob" acquired
becomes "skipped is counted separately for two CronJobs with the same lock" skipped
becomes "stolen is 1, for the killed run" stolen
becomes "revoked is 1" revoked
becomes "lost is 1" lost
becomes "released is the number of the other grants" released
becomes "for each CronJob, acquired equals released plus stolen plus revoked" query_is "$(unbalanced_jobs)" 0
becomes "no lock is held" query_is "$(of_jobs lock_held) == 1"
outcomes() { query_is "sum by (outcome) ($(lock_stat runs_total outcome)) > 0" "outcome=succeeded 4" "outcome=skipped 3" "outcome=lost 1"; }
becomes "runs are counted by their outcome" outcomes
errors() { query_is "sum by (reason) (cronlatch_run_errors_total{namespace=\"$NS\"}) > 0" "reason=auth 1" "reason=signal 1"; }
becomes "runs that the store cannot count are counted from pods: one refused, one killed" errors
recorded() { query_is "sum by (cronjob) (namespace_cronjob_lock:cronlatch_lock_acquired_total:max{namespace=\"$NS\", lock=\"$NS/shared\"})" "cronjob=first 1" "cronjob=second 0"; }
becomes "the recording rules have the same counts" recorded
succeeded() { [ -n "$(query "time() - max(cronlatch_last_success_timestamp_seconds{namespace=\"$NS\", cronjob=\"plain\"}) < 300")" ]; }
becomes "the last success is less than 300 s ago" succeeded
skips_are_none() { query_is "$(lock_stat last_success_timestamp_seconds) > 0 and on (cronjob) label_replace(vector(1), \"cronjob\", \"second\", \"\", \"\")"; }
check "a skipped run is not exported as a success" skips_are_none

bounded() { query_is "{__name__=~\"cronlatch_.+\", holder!=\"\"} or {__name__=~\"cronlatch_.+\", job_name!=\"\"} or {__name__=~\"cronlatch_.+\", uid!=\"\"}"; }
check "no series has a label for a holder, a Job or a UID" bounded
alert_fires() { [ "$(query "count(ALERTS{alertname=\"$1\", alertstate=\"firing\", namespace=\"$NS\"})")" = "$2" ]; }
becomes "the alert for the steal fires" alert_fires CronlatchLockStolen 1
becomes "the alert for the lost lease fires" alert_fires CronlatchLeaseLost 1
# No registry is requested here.
everything() { in_cluster python3 -B "$ROOT/tests/view/run_queries.py" "$PROMETHEUS" $((SECONDS - began + 5)) "Requests to registries"; }
becomes "every query of every panel of both dashboards returns data" everything

check "the output of cronlatch metrics is published as a file" publish client metrics
# Both sources export the same lock statistics; this query reads only those of the file.
file_counts() { query_is "sum by (cronjob) (max by (namespace, cronjob, lock) (cronlatch_lock_acquired_total{namespace=\"$NS\", job=\"node\"})) > 0" "${acquired[@]}"; }
becomes "the metrics of the file have the same counts" file_counts
becomes "both sources together count no grant twice" acquired

k delete cronjob plain >/dev/null
no_limit() { query_is "cronlatch_success_deadline_seconds{namespace=\"$NS\", cronjob=\"plain\"}"; }
becomes "after the CronJob is deleted, its limit is not exported" no_limit
finish
