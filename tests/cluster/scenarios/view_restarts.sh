#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No counter lies across an operator restart, a change of leader, a restart of Redis with its data, and one without.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
NS=$NS-$$  # the store remembers what an earlier run counted
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'stop_watching; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

pods_of_operator "$NAME"
watch
needs "a Prometheus runs" is_watching

cronjob report lock=true -- "echo done"
cronjob other lock=true -- "echo done"
RUNS=0
run_once() {
  RUNS=$((RUNS + 1))
  start_job report "run$RUNS"
  becomes "run $RUNS completes" complete "run$RUNS"
}
# Both CronJobs, so that nothing is there twice or missing.
counted() { gives "$(of_jobs lock_acquired_total)" "cronjob=other $2" "cronjob=report $1"; }
# The recorded maximum never fell, so no increase counts anything twice.
never_fell() { gives "sum by (cronjob) (resets(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{namespace=\"$NS\"}[1h]))" "cronjob=other 0" "cronjob=report 0"; }
resets_seen() { gives "sum(cronlatch_store_resets_total)" "$1"; }
leader() { ask 'max by (pod) (cronlatch_leader) == 1' | sed -n 's/^pod=\(.*\) 1$/\1/p'; }
one_leads() { [ "$(leader | wc -l)" = 1 ] && [ "$(leader)" != "${1:-}" ]; }

becomes "one replica leads" one_leads
start_job other there
becomes "the other CronJob runs once" complete there
run_once
run_once
becomes "two runs are two" counted 2 1

before=$(leader)
check "the operator is restarted" kubectl -n cronlatch rollout restart deployment cronlatch-operator
await_rollout cronlatch cronlatch-operator
becomes "a new replica leads" one_leads "$before"
becomes "after a restart two are still two" counted 2 1
run_once
becomes "and a third counts one more" counted 3 1

before=$(leader)
check "the leader is killed" kubectl -n cronlatch delete pod "$before" --grace-period=0 --force
becomes -t 90 "another replica leads" one_leads "$before"
run_once
becomes "a run under another leader counts one more" counted 4 1
await_rollout cronlatch cronlatch-operator
becomes "no counter ever fell" never_fell

redis_pod() { kubectl -n store get pods -l app=redis --sort-by=.metadata.creationTimestamp -o 'jsonpath={.items[-1:].metadata.name}'; }
restarted() { [ "$(kubectl -n store get pod "$(redis_pod)" -o 'jsonpath={.status.containerStatuses[0].restartCount}{.status.containerStatuses[0].ready}')" = "$1true" ]; }
times=$(kubectl -n store get pod "$(redis_pod)" -o 'jsonpath={.status.containerStatuses[0].restartCount}')
kill_redis() { NS=store kill_pod "$(redis_pod)"; }
check "Redis is killed, and keeps its data" kill_redis
becomes "it is back" restarted $((times + 1))
store_is_up() { gives 'min(cronlatch_store_up)' 1; }
becomes "every replica reaches it" store_is_up
becomes "with its data four are still four" counted 4 1
run_once
becomes "and a fifth counts one more" counted 5 1
becomes "no counter ever fell" never_fell
check "nobody saw a reset" resets_seen 0

check "Redis is thrown away with its data" kubectl -n store delete pod "$(redis_pod)" --wait
await_rollout store redis
becomes "every replica reaches the new one" store_is_up
becomes "an empty store takes nothing back" counted 5 1
run_once
becomes "the first run after it begins anew, for its own lock" counted 1 1
check "one reset was seen" resets_seen 1
fell_once() { gives "sum by (cronjob) (resets(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{namespace=\"$NS\"}[1h]))" "cronjob=other 0" "cronjob=report 1"; }
becomes "its counter fell once, which is what Prometheus calls a reset" fell_once
run_once
becomes "and goes on from there" counted 2 1
becomes "nobody breaks the law" gives "$(broken_law)" 0
told() { [ "$(ask 'count(ALERTS{alertname="CronlatchCountersReset", alertstate="firing"})')" = 1 ]; }
becomes "somebody is told" told
finish
