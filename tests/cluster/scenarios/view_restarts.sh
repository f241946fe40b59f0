#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters are correct after an operator restart, a change of leader, and a restart of Redis with and without its data.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
NS=$NS-$$  # the store contains the counters of earlier runs
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'stop_prometheus; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

pods_of_operator "$NAME"
start_prometheus
needs "a Prometheus runs" prometheus_ready

cronjob report lock=true -- "echo done"
cronjob other lock=true -- "echo done"
RUNS=0
run_once() {
  RUNS=$((RUNS + 1))
  start_job report "run$RUNS"
  becomes "run $RUNS completes" complete "run$RUNS"
}
# Both CronJobs, so that a duplicate or missing series is found.
counted() { query_is "$(of_jobs lock_acquired_total)" "cronjob=other $2" "cronjob=report $1"; }
# The recorded maximum never decreased, so that increase() counts no run twice.
never_decreased() { query_is "sum by (cronjob) (resets(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{namespace=\"$NS\"}[1h]))" "cronjob=other 0" "cronjob=report 0"; }
resets_seen() { query_is "sum(cronlatch_store_resets_total)" "$1"; }
leader() { query 'max by (pod) (cronlatch_leader) == 1' | sed -n 's/^pod=\(.*\) 1$/\1/p'; }
one_leads() { [ "$(leader | wc -l)" = 1 ] && [ "$(leader)" != "${1:-}" ]; }

becomes "one replica is the leader" one_leads
start_job other there
becomes "the other CronJob runs once" complete there
run_once
run_once
becomes "two runs are counted as 2" counted 2 1

before=$(leader)
check "the operator is restarted" kubectl -n cronlatch rollout restart deployment cronlatch-operator
await_rollout cronlatch cronlatch-operator
becomes "a new replica is the leader" one_leads "$before"
becomes "after a restart the count is still 2" counted 2 1
run_once
becomes "a third run increases the count to 3" counted 3 1

before=$(leader)
check "the leader is killed" kubectl -n cronlatch delete pod "$before" --grace-period=0 --force
becomes -t 90 "another replica is the leader" one_leads "$before"
# A forced deletion returns before the kubelet has killed the process.
not_scraped() { [ -z "$(query "cronlatch_leader{pod=\"$1\"}")" ]; }
becomes -t 90 "the killed replica is no longer scraped" not_scraped "$before"
run_once
becomes "a run under another leader increases the count to 4" counted 4 1
await_rollout cronlatch cronlatch-operator
becomes "no counter decreased" never_decreased

redis_pod() { kubectl -n store get pods -l app=redis --sort-by=.metadata.creationTimestamp -o 'jsonpath={.items[-1:].metadata.name}'; }
restarted() { [ "$(kubectl -n store get pod "$(redis_pod)" -o 'jsonpath={.status.containerStatuses[0].restartCount}{.status.containerStatuses[0].ready}')" = "$1true" ]; }
times=$(kubectl -n store get pod "$(redis_pod)" -o 'jsonpath={.status.containerStatuses[0].restartCount}')
kill_redis() { NS=store kill_pod "$(redis_pod)"; }
check "Redis is killed and keeps its data" kill_redis
becomes "Redis is ready again" restarted $((times + 1))
store_is_up() { query_is 'min(cronlatch_store_up)' 1; }
becomes "every replica can read the store" store_is_up
becomes "with its data the count is still 4" counted 4 1
run_once
becomes "a fifth run increases the count to 5" counted 5 1
becomes "no counter decreased" never_decreased
check "no reset is exported" resets_seen 0

check "Redis is deleted with its data" kubectl -n store delete pod "$(redis_pod)" --wait
await_rollout store redis
becomes "every replica can read the new store" store_is_up
becomes "with an empty store the count stays 5" counted 5 1
run_once
becomes "the first run after that resets the count of its own lock to 1" counted 1 1
check "one reset is exported" resets_seen 1
decreased_once() { query_is "sum by (cronjob) (resets(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{namespace=\"$NS\"}[1h]))" "cronjob=other 0" "cronjob=report 1"; }
becomes "its counter decreased once, which Prometheus reads as a reset" decreased_once
run_once
becomes "the next run increases the count to 2" counted 2 1
becomes "for each CronJob, the counters add up" query_is "$(unbalanced_jobs)" 0
alert_fires() { [ "$(query 'count(ALERTS{alertname="CronlatchCountersReset", alertstate="firing"})')" = 1 ]; }
becomes "the alert CronlatchCountersReset fires" alert_fires
finish
