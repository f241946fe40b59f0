#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench watch [CRONJOBS]: the cost of watching that many CronJobs (default 10000) for the released operator, with
# etcd and kube-apiserver. The baseline is the same operator with the same API server, before a CronJob exists. One in
# ten is annotated without the copy in its Job template, as after an install: the operator has to write these.
set -euo pipefail
SCRIPTS=$(dirname -- "${BASH_SOURCE[0]}")
for part in common pki plane node down up; do
  # shellcheck source=/dev/null
  source "$SCRIPTS/cluster_$part.sh"
done

CRONJOBS=${1:-10000}
case $CRONJOBS in *[!0-9]* | '') echo "usage: ./dev bench watch [CRONJOBS]" >&2 && exit 64 ;; esac
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"
if [ "$(id -u)" -ne 0 ] || ! command -v etcd >/dev/null || [ ! -x "$TOOLS/kube-apiserver" ]; then
  echo "bench: SKIPPED: watching $CRONJOBS CronJobs requires root, etcd and build/cluster/tools (./dev cluster up builds them)" >&2
  exit 0
fi
build_operator
build_load

use_cluster "bench-watch"
if exists; then take_down; fi
mkdir -p "$DIR"/{log,pid,bench}
trap 'stop_program operator 5; take_down' EXIT
step "etcd and kube-apiserver"
take_slot
read_addresses
make_pki
make_network
start_etcd
start_apiserver
must_become 120 "the API server is ready" kube-apiserver api_ready
for name in cronlatch bench; do kubectl create namespace $name >/dev/null; done
kubectl -n cronlatch create serviceaccount operator >/dev/null
kubectl create clusterrolebinding bench --clusterrole=cluster-admin --serviceaccount=cronlatch:operator >/dev/null

# As in a pod: the address of the API server, its CA and a token.
kubectl -n cronlatch create token operator --duration=3h >"$DIR/bench/token"
cp "$DIR/pki/ca.crt" "$DIR/bench/ca.crt"
operator_files "$DIR/bench" "admission-address: 127.0.0.1:8443" "plain-address: 127.0.0.1:8080" "store: rediss://redis.example:6379"
# shellcheck disable=SC2016  # the inner shell's own variables
start_in_cluster() {
  start operator unshare --mount --propagation private env KUBERNETES_SERVICE_HOST="$NODE_IP" KUBERNETES_SERVICE_PORT=6443 \
    POD_NAME=bench POD_NAMESPACE=cronlatch sh -c 'mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
      cp "$1/ca.crt" "$1/token" /run/secrets/kubernetes.io/serviceaccount/ && exec "$2" --config "$1/operator.yaml"' \
    sh "$DIR/bench" "$OPERATOR"
  PID=$(cat "$DIR/pid/operator")
}
cpu_ms() {  # utime and stime, in ticks of 10 ms
  sed 's/.*) //' "/proc/$PID/stat" | awk '{ print ($12 + $13) * 10 }'
}
metric() { in_cluster bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3' 2>/dev/null | tr -d '\r' | sed -nE "s/^$1 //p"; }
leads() { [ "$(metric cronlatch_leader)" = 1 ]; }
gated() { [ "$(metric 'cronlatch_gated_cronjobs\{state="gated"\}')" = "$1" ]; }
fill() {  # fill NAMESPACE BODY COUNT
  in_cluster "$OUT/admission_load" port=6443 pid="$(cat "$DIR/pid/kube-apiserver")" body="$2" count="$3" status=201 \
    cert="$DIR/pki/admin.crt" key="$DIR/pki/admin.key" path="/apis/batch/v1/namespaces/$1/cronjobs" |
    awk '$2 > 0 { print "bench: " $2 " objects were refused" > "/dev/stderr"; exit 1 }'
}

end_operator() { stop_program operator 20; }
row() { printf '| %s | %s | %s | %s |\n' "$@" >>"$DIR/bench/rows"; }
seconds_since() { awk -v a="$1" -v b="$(date +%s%N)" 'BEGIN { printf "%.1f", (b - a) / 1e9 }'; }

step "the operator, and no CronJob"
start_in_cluster
must_become 60 "the operator is the leader" operator leads
sleep 5  # the idle state has no event to wait for
row "idle leader, no CronJob" "$(resident)" "$(cpu_ms)" "-"

few=$((CRONJOBS / 10))
step "$CRONJOBS CronJobs are created while it watches, $few of them with an annotation that is not in the Job template"
sed 's/"annotations":{/&"cronlatch.dev\/lock":"true",/; s/report-NUMBER/gated-NUMBER/' "$ROOT/bench/cronjob.json" >"$DIR/bench/gated.json"
before=$(cpu_ms) start=$(date +%s%N)
fill bench "$ROOT/bench/cronjob.json" $((CRONJOBS - few))
fill bench "$DIR/bench/gated.json" "$few"
created=$(seconds_since "$start")
must_become 300 "the annotations of all $few are copied" operator gated "$few"
row "all created while it watches (in $created s)" "$(resident)" "$(($(cpu_ms) - before))" "copied after $(seconds_since "$start") s"
before=$(cpu_ms)
sleep 20  # the period that is measured
row "20 s without a change" "$(resident)" "$(($(cpu_ms) - before))" "-"

step "one is annotated among them"
kubectl -n bench annotate cronjob report-000000 cronlatch.dev/lock=true >/dev/null
start=$(date +%s%N)
wait_until 60 gated $((few + 1)) || stop_here "the annotation of one CronJob among $CRONJOBS was not copied to its Job template"
row "one of them is annotated" "$(resident)" "-" "copied after $(seconds_since "$start") s"
end_operator

step "the operator restarts and lists all CronJobs"
start_in_cluster
start=$(date +%s%N)
must_become 120 "the operator has listed all CronJobs" operator gated $((few + 1))
took=$(seconds_since "$start")
sleep 5
row "restarted" "$(resident)" "$(cpu_ms)" "all listed after $took s"
most=$(peak)
wrong=$(kubectl -n bench get cronjobs -o 'jsonpath={range .items[*]}{.metadata.annotations.cronlatch\.dev/lock}{" "}{.spec.jobTemplate.metadata.annotations.cronlatch\.dev/lock}{"\n"}{end}' |
  awk '($1 == "true") != ($2 == "true") { ++n } END { print n + 0 }')
printf '\n| %s CronJobs watched (etcd and kube-apiserver) | resident, kB | CPU, ms | |\n|---|---:|---:|---|\n' "$CRONJOBS"
cat "$DIR/bench/rows"
printf '| peak of the last process | %s | | |\n' "$most"
[ "$wrong" -eq 0 ] || stop_here "the annotation lock of $wrong CronJobs differs from their Job template"
