#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# While Redis is stopped, new runs fail and an Event reports it. A holder keeps its lock, also when Redis starts again, empty.
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
becomes "Redis has no pod" finds_none kubectl -n store get pods -l app=redis -o name
start_job other meanwhile
becomes "a new run fails" failed meanwhile
check "its outcome is store_down" outcome_has meanwhile '"outcome":"store_down"'
check "its command did not run" did_not_print meanwhile never
becomes "an Event reports the failure" event StoreDown CronJob/other ''
check "the holder still runs" unfinished holder

check "Redis is started again without its data" scale 1
await_rollout store redis
held_again() { client ls | grep -F "$NS/report"; }
becomes "the holder restores its record" held_again
end_command holder
becomes "the holder completes" complete holder
check "its outcome is ran" outcome_has holder '"outcome":"ran"'
finish
