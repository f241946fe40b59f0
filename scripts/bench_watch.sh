#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench watch [CRONJOBS]: the cost of watching that many CronJobs (default 10000) for the released operator, with
# etcd and kube-apiserver. The baseline is the same operator with the same API server, before a CronJob exists. One in
# ten is annotated without the copy in its Job template, as after an install: the operator has to write these.
set -euo pipefail
# shellcheck source=scripts/bench_api_server.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/bench_api_server.sh"

CRONJOBS=${1:-10000}
case $CRONJOBS in *[!0-9]* | '') echo "usage: ./dev bench watch [CRONJOBS]" >&2 && exit 64 ;; esac
if ! can_start_api_server; then
  echo "bench: SKIPPED: watching $CRONJOBS CronJobs requires root, etcd and build/cluster/tools (./dev cluster up builds them)" >&2
  exit 0
fi
build_operator
build_load

start_bench_cluster bench-watch
operator_files "$DIR/bench" "admission-address: 127.0.0.1:8443" "plain-address: 127.0.0.1:8080" "store: rediss://redis.example:6379"
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
