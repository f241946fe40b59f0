#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two clusters, each with its own API server and operator, share one Redis: the same CronJob runs once per scheduled time.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
EAST=$NAME WEST=${NAME}-west
in_east() { use_cluster "$EAST" && "$@"; }
in_west() { use_cluster "$WEST" && "$@"; }
everywhere() { in_east "$@" && in_west "$@"; }

was_up=no
[ ! -e "$CLUSTERS/$WEST/complete" ] || was_up=yes
west_up() { bash "$ROOT/scripts/cluster.sh" up "$WEST" --no-build --store-of "$EAST" 9>&-; }
cleanup() {
  everywhere kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
  [ "$was_up" = yes ] || bash "$ROOT/scripts/cluster.sh" down "$WEST"
}
trap cleanup EXIT
check "a second cluster comes up, with the store of the first" west_up
[ "$FAILED" -eq 0 ] || finish
use_cluster "$WEST"
kubectl create namespace "$NS" >/dev/null 2>&1
store_secret "$NS"

make() { SCHEDULE='* * * * *' cronjob nightly lock=true once-per-schedule=true -- "echo at=\$CRONLATCH_SCHEDULED_TIME"; }
suspend() { k patch cronjob nightly --patch '{"spec":{"suspend":true}}' >/dev/null; }
jobs() { k get jobs -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'; }
# The first may have ticked before the second had its CronJob: the newest tick that both had.
same_tick() { comm -12 <(in_east jobs | sort) <(in_west jobs | sort) | tail -n 1 | grep .; }
check "both have the same CronJob" everywhere make
needs -t 150 "the same tick comes in both: the Jobs have one name" same_tick
everywhere suspend
job=$(same_tick)
becomes "the first's Job completes" in_east complete "$job"
becomes "the second's Job completes" in_west complete "$job"
outcomes() {
  { in_east outcome "$job"; echo; in_west outcome "$job"; echo; } | grep -o '"outcome":"[a-z_]*"'
}
once() { [ "$(outcomes | sort | tr '\n' ' ')" = '"outcome":"ran" "outcome":"skipped" ' ] || { outcomes; return 1; }; }
check "one of them ran, the other was skipped" once
saw_time() { in_east says "$job" at=20 || in_west says "$job" at=20; }
check "the one that ran saw the scheduled time" saw_time
finish
