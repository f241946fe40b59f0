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
job_of() { k get jobs -o 'jsonpath={.items[0].metadata.name}' | grep .; }
check "both have the same CronJob" everywhere make
needs -t 90 "a tick comes in the first" in_east job_of
needs "and in the second" in_west job_of
everywhere suspend
east_job=$(in_east job_of)
west_job=$(in_west job_of)
check "it is the same tick: the Jobs have one name" [ "$east_job" = "$west_job" ]
becomes "the first's Job completes" in_east complete "$east_job"
becomes "the second's Job completes" in_west complete "$west_job"
outcomes() {
  { in_east outcome "$east_job"; echo; in_west outcome "$west_job"; echo; } | grep -o '"outcome":"[a-z_]*"'
}
once() { [ "$(outcomes | sort | tr '\n' ' ')" = '"outcome":"ran" "outcome":"skipped" ' ] || { outcomes; return 1; }; }
check "one of them ran, the other was skipped" once
saw_time() { in_east says "$east_job" at=20 || in_west says "$west_job" at=20; }
check "the one that ran saw the scheduled time" saw_time
finish
