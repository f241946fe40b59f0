#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two clusters, each with its own API server and operator, share one Redis: the same CronJob runs once per scheduled time.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
EAST=$NAME WEST=${NAME}-west
in_east() { use_cluster "$EAST" && "$@"; }
in_west() { use_cluster "$WEST" && "$@"; }
in_both() { in_east "$@" && in_west "$@"; }

was_up=no
[ ! -e "$CLUSTERS/$WEST/complete" ] || was_up=yes
west_up() { bash "$ROOT/scripts/cluster.sh" up "$WEST" --no-build --store-of "$EAST" 9>&-; }
cleanup() {
  in_both kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
  [ "$was_up" = yes ] || bash "$ROOT/scripts/cluster.sh" down "$WEST"
}
trap cleanup EXIT
check "a second cluster starts, with the store of the first" west_up
[ "$FAILED" -eq 0 ] || finish
use_cluster "$WEST"
kubectl create namespace "$NS" >/dev/null 2>&1
store_secret "$NS"

create_cronjob() { SCHEDULE='* * * * *' cronjob nightly lock=true once-per-schedule=true -- "echo at=\$CRONLATCH_SCHEDULED_TIME"; }
suspend() { k patch cronjob nightly --patch '{"spec":{"suspend":true}}' >/dev/null; }
jobs() { k get jobs -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'; }
# The newest scheduled time for which both clusters have a Job; the first may have one that the second has not.
same_time() { comm -12 <(in_east jobs | sort) <(in_west jobs | sort) | tail -n 1 | grep .; }
check "both clusters have the same CronJob" in_both create_cronjob
needs -t 150 "both clusters have a Job of the same scheduled time and name" same_time
in_both suspend
job=$(same_time)
becomes "the Job of the first cluster completes" in_east complete "$job"
becomes "the Job of the second cluster completes" in_west complete "$job"
outcomes() {
  { in_east outcome "$job"; echo; in_west outcome "$job"; echo; } | grep -o '"outcome":"[a-z_]*"'
}
ran_once() { [ "$(outcomes | sort | tr '\n' ' ')" = '"outcome":"ran" "outcome":"skipped" ' ] || { outcomes; return 1; }; }
check "one Job ran, and the other was skipped" ran_once
has_time() { in_east log_has "$job" at=20 || in_west log_has "$job" at=20; }
check "the Job that ran printed the scheduled time" has_time

# The name of a cluster is the beginning of the UID of kube-system.
cluster_name() { kubectl get namespace kube-system -o 'jsonpath={.metadata.uid}' | cut -c1-8; }
status_page() { kubectl get --raw /api/v1/namespaces/cronlatch/services/http:cronlatch-metrics:8080/proxy/status; }
reports() {
  status_page | jq -e --arg own "$1" --arg other "$2" '.cluster == $own and (.other_clusters | index($other) != null)' ||
    { status_page | jq '{cluster, other_clusters}' && return 1; }
}
east=$(in_east cluster_name) west=$(in_west cluster_name)
holder_is_named() { { in_east outcome "$job"; in_west outcome "$job"; } | grep -E "\"holder\":\"[^\"]*@($east|$west)\""; }
check "the holder in the outcome contains the name of its cluster" holder_is_named
cronjob_of_both() { cronjob both lock=both -- "echo ran"; }
check "both clusters have another CronJob" in_both cronjob_of_both
in_east start_job both one
becomes "its run in the first cluster completes" in_east complete one
becomes "the second cluster reports the first one" in_west reports "$west" "$east"
in_west start_job both two
becomes "its run in the second cluster completes" in_west complete two
becomes "the first cluster reports the second one" in_east reports "$east" "$west"
finish
