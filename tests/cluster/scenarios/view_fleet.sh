#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two clusters on one store: each run is attributed and counted once, though both operators export the whole ledger.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
NS=$NS-$$  # the store remembers what an earlier run counted
fresh_namespace pod-security.kubernetes.io/warn=restricted
EAST=$NAME WEST=${NAME}-fleet
in_east() { use_cluster "$EAST" && "$@"; }
in_west() { use_cluster "$WEST" && "$@"; }

was_up=no
[ ! -e "$CLUSTERS/$WEST/complete" ] || was_up=yes
west_up() { bash "$ROOT/scripts/cluster.sh" up "$WEST" --no-build --store-of "$EAST" 9>&-; }
cleanup() {
  in_east stop_watching
  for cluster in "$EAST" "$WEST"; do use_cluster "$cluster" && kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1; done
  [ "$was_up" = yes ] || bash "$ROOT/scripts/cluster.sh" down "$WEST"
}
trap cleanup EXIT
check "a second cluster comes up, with the store of the first" west_up
[ "$FAILED" -eq 0 ] || finish
use_cluster "$WEST"
kubectl create namespace "$NS" >/dev/null 2>&1
store_secret "$NS"

in_west pods_of_operator "$WEST"
in_east pods_of_operator "$EAST"
in_east watch
needs "a Prometheus sees both" in_east is_watching
both() { in_east gives "sum by (cluster) (cronlatch_leader)" "cluster=$EAST 1" "cluster=$WEST 1"; }
becomes "one replica leads in each cluster" both

for cluster in east west; do
  "in_$cluster" cronjob nightly lock=shared -- "$HOLD"
  "in_$cluster" cronjob weekly lock=shared -- "echo done"
done
in_east start_job nightly holder
needs "the first cluster holds the lock" in_east holds holder
in_west start_job nightly skipped
becomes "the same CronJob is skipped in the second" in_west complete skipped
in_west start_job weekly skipped-too
becomes "another one on that lock is, too" in_west complete skipped-too
in_east let_go holder
becomes "the holder completes" in_east complete holder
in_west start_job weekly runs
becomes "then the second cluster has its turn" in_west complete runs

recorded() { in_east gives "sum by (cronjob) ($1{namespace=\"$NS\"})" "${@:2}"; }
becomes "granted: one for each CronJob, not two" recorded namespace_cronjob_lock:cronlatch_lock_acquired_total:max "cronjob=nightly 1" "cronjob=weekly 1"
becomes "skipped: each its own" recorded namespace_cronjob_lock_reason:cronlatch_lock_skipped_total:max "cronjob=nightly 1" "cronjob=weekly 1"
shown_twice() { in_east gives "count by (cronjob) (cronlatch_lock_acquired_total{namespace=\"$NS\"})" "cronjob=nightly 2" "cronjob=weekly 2"; }
check "though both clusters show the whole ledger" shown_twice
becomes "by the lock two grants in all" in_east gives "sum(namespace_cronjob_lock:cronlatch_lock_acquired_total:max{lock=\"$NS/shared\"})" 2
becomes "nobody breaks the law" in_east gives "$(broken_law)" 0
finish
