#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench pods --api-server [SECONDS]: gated pods finish with etcd and kube-apiserver (bench/pod_writer.py). First
# without the operator, as fast as the API server accepts; then with the operator at half of that rate, for SECONDS
# (default 60). The exit code is 1 when a budget is exceeded: memory at most 128 MB, lag at most 30 s, every error counted
# exactly once.
# CRONJOBS and PODS_ALONE (the pods that finish without the operator) change the numbers.
set -euo pipefail
# shellcheck source=scripts/bench_api_server.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/bench_api_server.sh"

SECONDS_OF_PODS=${1:-60}
case $SECONDS_OF_PODS in *[!0-9]* | '' | 0) echo "usage: ./dev bench pods --api-server [SECONDS]" >&2 && exit 64 ;; esac
CRONJOBS=${CRONJOBS:-100}
PODS_ALONE=${PODS_ALONE:-6000}
BUDGET_KB=131072
BUDGET_LAG_MS=30000
if ! can_start_api_server; then
  echo "bench: SKIPPED: finished pods on an API server require root, etcd and build/cluster/tools (./dev cluster up builds them)" >&2
  exit 0
fi
build_operator

start_bench_cluster bench-pods
kubectl -n bench create serviceaccount default >/dev/null  # no controller creates it, and pods need it
operator_files "$DIR/bench" "admission-address: 127.0.0.1:8443" "plain-address: 127.0.0.1:8080" "cluster-name: bench"
writer() { in_cluster python3 "$ROOT/bench/pod_writer.py" "$NODE_IP:6443" "$DIR/pki" "$@"; }
value() { sed -n "s/^$1 //p" "$DIR/bench/$2"; }
# The first checkpoint of the operator follows the list of the pods.
has_listed() { gated "$CRONJOBS" && kubectl -n cronlatch get lease cronlatch-operator -o yaml | grep -q in_force; }
# Requests with an Event, which the operator sends before it counts an error.
event_requests() {
  kubectl get --raw /metrics |
    awk '/^apiserver_request_total\{.*resource="events".*verb="(POST|PATCH)"/ { n += $NF } END { printf "%d", n }'
}
events() { kubectl -n bench get events.events.k8s.io -o name | wc -l; }
suppressed() { metrics | awk '/^cronlatch_events_suppressed_total\{/ { n += $NF } END { print n + 0 }'; }

step "$CRONJOBS CronJobs, and $PODS_ALONE pods that the operator does not watch"
writer cronjobs "$CRONJOBS"
writer pods 0 "$PODS_ALONE" false
step "they finish without the operator, as fast as the API server accepts"
writer finish 0 "$PODS_ALONE" >"$DIR/bench/alone"
half=$(($(value rate alone) / 2))
pods=$((half * SECONDS_OF_PODS))

step "$(value rate alone) per second; $pods gated pods, for $SECONDS_OF_PODS s at half of that rate"
writer pods "$PODS_ALONE" "$pods" true
step "the operator starts"
start_in_cluster
must_become 120 "the operator leads and has listed the pods" operator has_listed
idle=$(resident) before=$(cpu_ms) start=$(date +%s%N)
step "$half pods finish per second"
writer finish "$PODS_ALONE" "$pods" "$half" 127.0.0.1:8080 >"$DIR/bench/led"
must_become 1 "the operator has not terminated" operator runs operator
cpu=$((($(cpu_ms) - before) * 100000000 / ($(date +%s%N) - start)))
most=$(peak) errors=$(value errors led) counted=$(value counted led) lag=$(value lag_max_ms led) rate=$(value rate led)

printf '\n| %s finished pods of %s CronJobs (etcd and kube-apiserver) | |\n|---|---:|\n' "$pods" "$CRONJOBS"
printf '| pods per second without the operator | %s |\n| processor of the writer for this, %% of a core | %s |\n' \
  "$(value rate alone)" "$(value writer_cpu alone)"
printf '| pods per second with the operator | %s |\n| counted errors, of %s | %s |\n| lag, longest, ms | %s |\n' "$rate" "$errors" "$counted" "$lag"
printf '| resident memory, listed, MB | %s |\n| peak, MB | %s |\n| processor of the operator, %% of a core | %s |\n' \
  "$((idle / 1024))" "$((most / 1024))" "$cpu"
printf '| times that the operator became the leader | %s |\n' "$(grep -c '"event":"leader"' "$DIR/log/operator.log")"
printf '| requests with an Event | %s |\n| Events in the API server | %s |\n' "$(event_requests)" "$(events)"
printf '| occurrences that were not written as Events at once | %s |\n' "$(suppressed)"
status=0
fail() {
  echo "bench: $*" >&2
  status=1
}
[ "$rate" -ge $((half * 95 / 100)) ] || fail "$rate pods finished per second, fewer than $half: the budgets are not measured"
[ "$counted" -eq "$errors" ] || fail "$counted errors were counted, and $errors pods had one"
[ "$lag" -le "$BUDGET_LAG_MS" ] || fail "the longest lag is $lag ms, more than $BUDGET_LAG_MS"
[ "$most" -le "$BUDGET_KB" ] || fail "the peak is $most kB, more than $BUDGET_KB"
[ $status -eq 0 ] || tail -n 25 "$DIR/log/operator.log" >&2
exit $status
