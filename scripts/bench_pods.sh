#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench pods [SECONDS]: the leader reports 300 finished pods per second for that long (default 60), from a replayed
# watch with 10,000 CronJobs, 100,000 Jobs and 100,000 pods (bench/pod_replay.cc). In the middle, the operator is restarted.
# The exit code is 1 when a budget is exceeded: memory at most 128 MB, lag at most 30 s, no pod lost or counted twice.
# RATE, CRONJOBS and JOBS_OF_REPLAY change the numbers. With --api-server: scripts/bench_pods_api_server.sh.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
if [ "${1:-}" = --api-server ]; then exec bash "$ROOT/scripts/bench_pods_api_server.sh" "${@:2}"; fi
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"

SECONDS_OF_PODS=${1:-60}
case $SECONDS_OF_PODS in *[!0-9]* | '') echo "usage: ./dev bench pods [--api-server] [SECONDS]" >&2 && exit 64 ;; esac
RATE=${RATE:-300}
CRONJOBS=${CRONJOBS:-10000}
JOBS_OF_REPLAY=${JOBS_OF_REPLAY:-100000}
BUDGET_KB=131072
BUDGET_LAG_MS=30000
if [ "$(id -u)" -ne 0 ]; then
  echo "bench: SKIPPED: finished pods require root, for the files of a ServiceAccount in a mount namespace" >&2
  exit 0
fi
STAGE=$(mktemp -d)
PID=
end() {
  [ -z "$PID" ] || kill "$PID" 2>/dev/null || true
  [ -z "${REPLAY_PID:-}" ] || kill "$REPLAY_PID" 2>/dev/null || true
  rm -rf -- "$STAGE"
}
trap end EXIT
build_operator
OUT=$ROOT/build/bench
mkdir -p "$OUT"
[ "$OUT/pod_replay" -nt "$ROOT/bench/pod_replay.cc" ] ||
  g++ -std=c++20 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -pthread -I"$ROOT/src" -I"$ROOT/tests" -o "$OUT/pod_replay" \
    "$ROOT/bench/pod_replay.cc" "$ROOT/tests/support/https_server.cc" -lssl -lcrypto

say "start the replay of $JOBS_OF_REPLAY Jobs"
operator_files "$STAGE" "admission-address: 127.0.0.1:0" "plain-address: 127.0.0.1:0" "cluster-name: bench" \
  "events-per-second: 10000"  # more than the pods need: each pod is seen by its Events
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=replay -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$STAGE/api.key" -out "$STAGE/ca.crt" 2>/dev/null
printf token >"$STAGE/token"
mkfifo "$STAGE/commands"
"$OUT/pod_replay" cert="$STAGE/ca.crt" key="$STAGE/api.key" cronjobs="$CRONJOBS" jobs="$JOBS_OF_REPLAY" rate="$RATE" \
  seconds="$SECONDS_OF_PODS" <"$STAGE/commands" >"$STAGE/port" &
REPLAY_PID=$!
exec 3>"$STAGE/commands"
wait_until 30 test -s "$STAGE/port"
API=$(cat "$STAGE/port")

start_leader() {
  # shellcheck disable=SC2016  # the inner shell's own variables
  unshare --mount --propagation private env KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="$API" POD_NAME="$1" \
    POD_NAMESPACE=cronlatch sh -c 'mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
      cp "$1/ca.crt" "$1/token" /run/secrets/kubernetes.io/serviceaccount/ && exec "$2" --config "$1/operator.yaml"' \
    sh "$STAGE" "$OPERATOR" 2>"$STAGE/log" &
  PID=$!
  wait_until 30 grep -q '"event":"listening"' "$STAGE/log" || {
    cat "$STAGE/log" >&2
    return 1
  }
}
metric() { curl --silent "http://127.0.0.1:$(port_of plain)/metrics" | sed -nE "s/^$1 //p"; }
counted() { curl --silent "http://127.0.0.1:$(port_of plain)/metrics" | awk '/^cronlatch_run_errors_total\{/ { n += $NF } END { print n + 0 }'; }
has_cronjobs() { [ "$(metric 'cronlatch_gated_cronjobs\{state="gated"\}')" = "$CRONJOBS" ]; }
# The first checkpoint of the operator follows the list of the pods.
has_listed() {
  curl --silent --cacert "$STAGE/ca.crt" "https://127.0.0.1:$API/apis/coordination.k8s.io/v1/namespaces/cronlatch/leases/cronlatch-operator" |
    grep -q in_force && has_cronjobs
}
stat_of() { curl --silent --cacert "$STAGE/ca.crt" "https://127.0.0.1:$API/stats" | sed -n "s/^$1 //p"; }
# One look a second: each starts programs, which would take processor time from the operator.
has_finished() { sleep 1 && [ "$(stat_of finished)" -ge "$1" ]; }
all_reported() { sleep 1 && [ "$(stat_of reported)" -ge "$((RATE * SECONDS_OF_PODS))" ]; }
cpu_ms() { sed 's/.*) //' "/proc/$PID/stat" | awk '{ print ($12 + $13) * 10 }'; }

say "start the operator"
start_leader one
wait_until 300 has_listed || {
  cat "$STAGE/log" >&2
  exit 1
}
idle=$(resident)

say "$RATE pods finish per second, for $SECONDS_OF_PODS s; the operator is killed after half of them, and started again"
before=$(cpu_ms)
echo start >&3
wait_until 600 has_finished "$((RATE * SECONDS_OF_PODS / 2))"
cpu=$((($(cpu_ms) - before) * 100 / (SECONDS_OF_PODS * 500)))
lag_before=$(stat_of lag_max_ms)
# Counters of a process end with it. They increase after the renewals of the Lease, every two seconds: it is killed after
# an increase, so that few counts are lost.
counted_before=$(counted)
has_increased() { [ "$(counted)" -gt "$counted_before" ]; }
wait_until 60 has_increased
counted_before=$(counted)
first_peak=$(peak)
kill -KILL "$PID"
wait "$PID" 2>/dev/null || true
start_leader two
wait_until 600 all_reported || true
wait_until 120 has_cronjobs || true
all_counted() { [ "$((counted_before + $(counted)))" -ge "$(stat_of errors)" ]; }
wait_until 30 all_counted || true
second_peak=$(peak)

finished=$(stat_of finished) reported=$(stat_of reported) lag=$(stat_of lag_max_ms)
total_counted=$((counted_before + $(counted))) errors=$(stat_of errors)
printf '\n| %s finished pods, %s per second, %s CronJobs, %s Jobs | |\n|---|---:|\n' "$finished" "$RATE" "$CRONJOBS" "$JOBS_OF_REPLAY"
printf '| reported | %s |\n| lost | %s |\n| counted errors, of %s | %s |\n' "$reported" "$((finished - reported))" "$errors" "$total_counted"
printf '| lag, median, ms | %s |\n| lag, longest, before the restart, ms | %s |\n| lag, longest, ms | %s |\n' "$(stat_of lag_median_ms)" "$lag_before" "$lag"
printf '| resident memory, listed, MB | %s |\n| peak of the first process, of the second, MB | %s, %s |\n| processor of the first half, %% of a core | %s |\n' \
  "$((idle / 1024))" "$((first_peak / 1024))" "$((second_peak / 1024))" "$cpu"
printf '| Events that were sent again after the restart | %s |\n' "$(stat_of repeated)"
status=0
fail() {
  echo "bench: $*" >&2
  status=1
}
[ "$finished" -eq "$reported" ] || fail "$((finished - reported)) of $finished pods were not reported"
[ "$total_counted" -le "$errors" ] || fail "$total_counted errors were counted, and $errors pods had one"
# What the killed process counted after the last look: it counts after each renewal of the Lease, every two seconds.
[ "$((errors - total_counted))" -le "$((RATE / 5))" ] || fail "$((errors - total_counted)) of $errors errors were not counted"
[ "$lag" -le "$BUDGET_LAG_MS" ] || fail "the longest lag is $lag ms, more than $BUDGET_LAG_MS"
for most in "$first_peak" "$second_peak"; do
  [ "$most" -le "$BUDGET_KB" ] || fail "the peak is $most kB, more than $BUDGET_KB"
done
exit $status
