#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two clusters with one store: each run is counted once, although both operators export all lock statistics.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
NS=$NS-$$  # the store contains the counters of earlier runs
fresh_namespace pod-security.kubernetes.io/warn=restricted
EAST=$NAME WEST=${NAME}-fleet
in_east() { use_cluster "$EAST" && "$@"; }
in_west() { use_cluster "$WEST" && "$@"; }

was_up=no
[ ! -e "$CLUSTERS/$WEST/complete" ] || was_up=yes
west_up() { bash "$ROOT/scripts/cluster.sh" up "$WEST" --no-build --store-of "$EAST" 9>&-; }
cleanup() {
  in_east stop_prometheus
  for cluster in "$EAST" "$WEST"; do use_cluster "$cluster" && kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1; done
  [ "$was_up" = yes ] || bash "$ROOT/scripts/cluster.sh" down "$WEST"
}
trap cleanup EXIT
check "a second cluster starts, with the store of the first" west_up
[ "$FAILED" -eq 0 ] || finish
use_cluster "$WEST"
kubectl create namespace "$NS" >/dev/null 2>&1
store_secret "$NS"

in_west pods_of_operator "$WEST"
in_east pods_of_operator "$EAST"
in_east start_prometheus
needs "a Prometheus for both clusters runs" in_east prometheus_ready
both() { in_east query_is "sum by (cluster) (cronlatch_leader)" "cluster=$EAST 1" "cluster=$WEST 1"; }
becomes "each cluster has one leader" both

for cluster in east west; do
  "in_$cluster" cronjob nightly lock=shared -- "$HOLD"
  "in_$cluster" cronjob weekly lock=shared -- "echo done"
done
in_east start_job nightly holder
needs "a run of the first cluster holds the lock" in_east holds holder
in_west start_job nightly skipped
becomes "the same CronJob is skipped in the second cluster" in_west complete skipped
in_west start_job weekly skipped-too
becomes "another CronJob with that lock is skipped in the second cluster" in_west complete skipped-too
in_east end_command holder
becomes "the holder completes" in_east complete holder
in_west start_job weekly runs
becomes "after that, a run of the second cluster completes" in_west complete runs

recorded() { in_east query_is "sum by (cronjob) ($1{namespace=\"$NS\"})" "${@:2}"; }
becomes "acquired is 1 for each CronJob" recorded namespace_cronjob_lock:cronlatch_lock_acquired_total:max "cronjob=nightly 1" "cronjob=weekly 1"
becomes "skipped is 1 for each CronJob" recorded namespace_cronjob_lock_reason:cronlatch_lock_skipped_total:max "cronjob=nightly 1" "cronjob=weekly 1"
exported_twice() { in_east query_is "count by (cronjob) (cronlatch_lock_acquired_total{namespace=\"$NS\"})" "cronjob=nightly 2" "cronjob=weekly 2"; }
check "both clusters export the statistics of both CronJobs" exported_twice
becomes "the sum of both CronJobs is two grants of the lock" in_east query_is "sum(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{lock=\"$NS/shared\"})" 2
becomes "for each CronJob, the counters add up" in_east query_is "$(unbalanced_jobs)" 0
finish
