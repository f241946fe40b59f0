#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Redis is away: new runs fail and an Event says so, a run that holds its lock goes on and keeps it when Redis is back, empty.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

scale() { kubectl -n store scale deployment redis --replicas="$1"; }

cronjob report lock=true -- "$HOLD"
cronjob other lock=true -- "echo never"
start_job report holder
needs "a run holds its lock" holds holder

check "Redis is stopped" scale 0
trap 'scale 1 >/dev/null; await_rollout store redis; kubectl delete namespace "$NS" --wait=false >/dev/null' EXIT
becomes "it is gone" finds_none kubectl -n store get pods -l app=redis -o name
start_job other meanwhile
becomes "a new run fails" failed meanwhile
check "its outcome is store_down" outcome_has meanwhile '"outcome":"store_down"'
check "its command did not run" never_said meanwhile never
becomes "an Event says so" event StoreDown CronJob/other ''
check "the holder goes on" unfinished holder

check "Redis is started again, empty" scale 1
await_rollout store redis
held_again() { desk ls | grep -F "$NS/report"; }
becomes "the holder writes its record again" held_again
let_go holder
becomes "the holder completes" complete holder
check "its outcome is ran" outcome_has holder '"outcome":"ran"'
finish
