#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prometheus sees what happened, exactly: acquired, skipped, stolen, revoked, refused; every query of both dashboards gives data.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
NS=$NS-$$  # the store remembers what an earlier run counted
[ -z "${PICTURES:-}" ] || NS=shop
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'stop_watching; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

began=$SECONDS
pods_of_operator "$NAME"
api_server_of "$NAME"
textfiles
watch
needs "a Prometheus runs" is_watching

cronjob plain lock=true alert-after=26h -- "echo done"
cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo never"
cronjob victim lock=fragile ttl=30s -- "$HOLD"
cronjob heir lock=fragile ttl=10s on-busy=wait -- "echo inherited"
cronjob stopped lock=true ttl=30s kill-after=1s -- "$HOLD"
cronjob stranger lock=true store-secret=strange -- "echo never"
kubectl -n "$NS" create secret generic strange --from-literal=username=cron --from-literal=password=wrong \
  --from-file="$DIR"/store/ca.crt --from-file="$DIR"/store/tls.crt --from-file="$DIR"/store/tls.key >/dev/null
known() { gives "count($(ledger lock_acquired_total) == 0)" 7; }
becomes "each gated CronJob is there with 0 before it ran" known
limit() { gives "sum by (cronjob) (cronlatch_success_deadline_seconds{namespace=\"$NS\"})" "cronjob=plain 93600"; }
becomes "the limit of alert-after is there" limit

start_job first holder
start_job victim prey
start_job stopped target
start_job stranger refused
start_job plain one
needs "the first holds the shared lock" holds holder
needs "the victim holds its lock" holds prey
needs "a third holds its own" holds target
open_ones() { gives "$(of_jobs lock_held) == 1" "cronjob=first 1" "cronjob=stopped 1" "cronjob=victim 1"; }
becomes "three locks are seen held" open_ones

start_job second skip1
start_job second skip2
start_job first skip3
start_job heir waiter
becomes "a scheduled run completes" complete one
becomes "two are skipped" complete skip2
becomes "and a third" complete skip3
start_job plain two
becomes "a second run completes" complete two
check "the victim is killed" kill_pod "$(pod_of prey)"
check "the third's lease is revoked" desk release "$NS/stopped" --force
becomes "its Job fails" failed target
becomes "the heir takes the lock over" complete waiter
becomes "the stranger is refused by the store" failed refused
let_go holder
becomes "the first completes" complete holder
check "a bad annotation is refused" refused_with cronlatch.dev/lock cronjob wrong lock=yes -- "echo never"

acquired=("cronjob=plain 2" "cronjob=first 1" "cronjob=victim 1" "cronjob=heir 1" "cronjob=stopped 1")
acquired() { gives "$(of_jobs lock_acquired_total) > 0" "${acquired[@]}"; }
skipped() { gives "sum by (cronjob, reason) ($(ledger lock_skipped_total reason)) > 0" "cronjob=second reason=held 2" "cronjob=first reason=held 1"; }
stolen() { gives "$(of_jobs lock_stolen_total) > 0" "cronjob=victim 1"; }
revoked() { gives "$(of_jobs lock_revoked_total) > 0" "cronjob=stopped 1"; }
lost() { gives "$(of_jobs lock_lost_total) > 0" "cronjob=stopped 1"; }
released() { gives "$(of_jobs lock_released_total) > 0" "cronjob=plain 2" "cronjob=first 1" "cronjob=heir 1"; }
becomes "acquired is what was granted, by job" acquired
becomes "skipped is what was skipped, of two CronJobs on one lock each its own" skipped
becomes "stolen is one, of the victim" stolen
becomes "revoked is one" revoked
becomes "lost is one" lost
becomes "released is the rest" released
becomes "nothing is open, nobody breaks the law" gives "$(broken_law)" 0
becomes "nothing is held" gives "$(of_jobs lock_held) == 1"
outcomes() { gives "sum by (outcome) ($(ledger runs_total outcome)) > 0" "outcome=succeeded 4" "outcome=skipped 3" "outcome=lost 1"; }
becomes "runs are counted by their outcome" outcomes
errors() { gives "sum by (reason) (cronlatch_run_errors_total{namespace=\"$NS\"}) > 0" "reason=auth 1" "reason=signal 1"; }
becomes "what the store cannot count is counted from pods: one refused, one killed" errors
recorded() { gives "sum by (cronjob) (namespace_cronjob_lock:cronlatch_lock_acquired_total:max{namespace=\"$NS\", lock=\"$NS/shared\"})" "cronjob=first 1" "cronjob=second 0"; }
becomes "the recording rules have the same" recorded
succeeded() { [ -n "$(ask "time() - max(cronlatch_last_success_timestamp_seconds{namespace=\"$NS\", cronjob=\"plain\"}) < 300")" ]; }
becomes "the last success is a moment ago" succeeded
skips_are_none() { gives "$(ledger last_success_timestamp_seconds) > 0 and on (cronjob) label_replace(vector(1), \"cronjob\", \"second\", \"\", \"\")"; }
check "a skip is no success" skips_are_none

bounded() { gives "{__name__=~\"cronlatch_.+\", holder!=\"\"} or {__name__=~\"cronlatch_.+\", job_name!=\"\"} or {__name__=~\"cronlatch_.+\", uid!=\"\"}"; }
check "no series names a holder, a Job or a UID" bounded
wakes() { [ "$(ask "count(ALERTS{alertname=\"$1\", alertstate=\"firing\", namespace=\"$NS\"})")" = "$2" ]; }
becomes "the steal wakes somebody" wakes CronlatchLockStolen 1
becomes "so does the loss" wakes CronlatchLeaseLost 1
everything() { in_cluster python3 -B "$ROOT/tests/view/run_queries.py" "$PROMETHEUS" $((SECONDS - began + 5)); }
becomes "every query of every panel of both dashboards gives data" everything
if [ -n "${PICTURES:-}" ]; then
  check "the pictures of docs/dashboards.md are drawn" in_cluster python3 -B "$ROOT/tests/view/render.py" "$PROMETHEUS" $((SECONDS - began)) "$PICTURES"
fi

check "cronlatch metrics is published as a file" publish desk metrics
# Both ways show the same ledger; what only one of them shows does not count.
two_ways() { gives "sum by (cronjob) (max by (namespace, cronjob, lock) (cronlatch_lock_acquired_total{namespace=\"$NS\", job=\"node\"})) > 0" "${acquired[@]}"; }
becomes "the file says the same" two_ways
becomes "and counts nothing twice" acquired

k delete cronjob plain >/dev/null
gone() { gives "cronlatch_success_deadline_seconds{namespace=\"$NS\"}"; }
becomes "with the CronJob its limit goes" gone
finish
