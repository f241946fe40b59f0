#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Prometheus scrapes the metrics file and the output of `cronlatch metrics` of the released program. Its counters
# match the runs.
set -uo pipefail
# shellcheck source=tests/view/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/prometheus.sh
source "$ROOT/scripts/prometheus.sh"

cleanup() {
  stop_prometheus
  stop_all_redis
  wait 2>/dev/null
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

start_redis "$STAGE/redis"
STORE=redis://127.0.0.1:$REDIS_PORT
mkdir "$STAGE/files"
start_prometheus "$STAGE/prometheus" "$STAGE/files" "$RULES"/*.yaml
check "Prometheus scrapes a node exporter's textfile collector" prometheus_scrapes

run() {  # run NAME OPTION... -- COMMAND: job shop/NAME on the lock `shared`
  local name=$1
  shift
  "$BINARY" run --store "$STORE" --lock shared --ttl 5s --job "shop/$name" --metrics-file "$STAGE/$name.prom" "$@" 2>>"$STAGE/runs.log"
}
metrics() { "$BINARY" metrics --store "$STORE"; }
publish() { "$@" >"$STAGE/new" && mv "$STAGE/new" "$STAGE/files/cronlatch.prom"; }
gives() {
  local expr=$1
  shift
  diff <(python3 -B "$VIEW/query.py" "$PROMETHEUS" "$expr") <(if [ $# -gt 0 ]; then printf '%s\n' "$@" | sort; fi) || { echo "(< actual, > expected) $expr" && return 1; }
}
# soon SENTENCE EXPRESSION LINE...
soon() {
  local sentence=$1
  shift
  if wait_until 60 gives "$@" >/dev/null 2>&1; then ok "$sentence"; else check "$sentence" gives "$@"; fi
}
by_job() { echo "sum by (cronjob) (namespace_cronjob_lock:cronlatch_$1:max{namespace=\"shop\", lock=\"shared\"}) > 0"; }

run first -- sh -c "touch '$STAGE/began'; while [ ! -e '$STAGE/end' ]; do sleep 0.05; done" &
first=$!
wait_until 60 test -e "$STAGE/began"
check "a run is skipped" run second -- true
publish metrics
soon "its holder is exported" 'sum by (cronjob) (cronlatch_lock_held) == 1' "cronjob=first 1"
touch "$STAGE/end"
wait "$first"
check "after the release another run starts" run second -- true
# Only the wrapper is killed with SIGKILL: its command ends with it, and the lock is not released.
{ run third -- sh -c "touch '$STAGE/third'; exec sleep 60"; } 2>/dev/null &
third=$!
wait_until 60 test -e "$STAGE/third"
pid=$(pgrep -P "$third" -f 'cronlatch run' || echo "$third")
kill -9 "$pid"
wait "$third" 2>/dev/null
check "the next run waits for the lease and takes the lock over" run second --on-busy wait -- true

publish metrics
check "promtool finds no error in cronlatch metrics" promtool check metrics <"$STAGE/files/cronlatch.prom"
check "promtool finds no error in the metrics file" promtool check metrics <"$STAGE/second.prom"
soon "acquired counts the grants, by job" "$(by_job lock_acquired_total)" "cronjob=first 1" "cronjob=second 2" "cronjob=third 1"
soon "stolen counts the killed run" "$(by_job lock_stolen_total)" "cronjob=third 1"
skips='sum by (cronjob) (namespace_cronjob_lock_reason:cronlatch_lock_skipped_total:max{reason="held"}) > 0'
soon "skipped counts one run" "$skips" "cronjob=second 1"
soon "acquired = released + stolen + revoked + open" 'count(cronlatch_lock_acquired_total - cronlatch_lock_released_total - cronlatch_lock_stolen_total - cronlatch_lock_revoked_total - cronlatch_lock_open != 0) or vector(0)' 0
publish cat "$STAGE/second.prom"
soon "the metrics file has the same values for its lock" "$(by_job lock_acquired_total)" "cronjob=first 1" "cronjob=second 2" "cronjob=third 1"
finish
