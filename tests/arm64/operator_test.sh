#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The released operator for arm64, with the libraries of the sysroot and qemu-user: it starts, serves its pages, and gates a
# Job over TLS.
set -uo pipefail
# shellcheck source=tests/arm64/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"
OPERATOR=$ROOT/build/operator-arm64/cronlatch-operator
start_in_arm64 "$OPERATOR" operator-arm64 "$@"

STAGE=$(mktemp -d)
PID=''
# shellcheck disable=SC2329
cleanup() {
  [ -z "$PID" ] || kill "$PID" 2>/dev/null
  rm -rf -- "$STAGE"
}
trap cleanup EXIT
VERSION=$(sed -nE 's/^project\(cronlatch VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")

check "cronlatch-operator is for arm64" is_for_arm64 "$OPERATOR"
check "it is stripped" is_stripped "$OPERATOR"
check "its stack cannot be executed" stack_is_not_executable "$OPERATOR"
check "its relocated data is read-only" has_relro "$OPERATOR"
check "it contains no path of its build" contains_no_path "$OPERATOR"
needs_only() {  # the libraries that the operator of the host needs, by the same names
  local host=$ROOT/build/operator/cronlatch-operator
  diff <(needed "$host") <(needed "$OPERATOR")
}
needed() { readelf -dW "$1" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' | grep -v '^ld-linux' | sort; }
if [ -x "$ROOT/build/operator/cronlatch-operator" ]; then
  check "it needs the libraries of the operator for amd64" needs_only
else
  skip "it needs the libraries of the operator for amd64" "./dev build operator creates build/operator/cronlatch-operator"
fi
prints_its_version() { [ "$("$OPERATOR" version)" = "cronlatch-operator $VERSION" ]; }
prints_help() { "$OPERATOR" help | grep -q 'cronlatch-operator --config'; }
check "it prints its version" prints_its_version
check "it prints its help" prints_help
ends_with_78() { "$OPERATOR" --config "$STAGE/missing"; [ $? = 78 ]; }
check "it ends with 78 without its settings" ends_with_78

operator_files "$STAGE" "admission-address: 127.0.0.1:0" "plain-address: 127.0.0.1:0" "store: rediss://redis.example:6379"
start_operator "$STAGE" listening >/dev/null || { fail "it listens" && finish; }
ok "it listens"
page() { python3 -B -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=30).read().decode())' "http://127.0.0.1:$(port_of plain)$1"; }
is_healthy() { page /healthz | tee /dev/stderr | grep -qi ok; }
exports_metrics() { page /metrics | grep '^cronlatch_build_info\|^# TYPE cronlatch_'; }
check "/healthz is ok" is_healthy
check "/metrics has metrics" exports_metrics
gates_a_job() {
  python3 -B - "$(port_of admission)" <<'PYTHON'
import base64, json, ssl, sys, urllib.request

review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
    "uid": "u", "namespace": "demo", "operation": "CREATE", "object": {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "one", "namespace": "demo", "annotations": {"cronlatch.dev/lock": "one"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never",
                 "containers": [{"name": "main", "image": "busybox", "command": ["true"]}]}}}}}}
context = ssl._create_unverified_context()
request = urllib.request.Request(f"https://127.0.0.1:{sys.argv[1]}/admit/job", json.dumps(review).encode(),
                                 {"Content-Type": "application/json"})
response = json.load(urllib.request.urlopen(request, timeout=30, context=context))["response"]
print(response)
patch = base64.b64decode(response["patch"]).decode()
print(patch)
assert response["allowed"] and "--lock=demo/one" in patch
PYTHON
}
check "it gates a Job over TLS" gates_a_job
ends_after_term() {
  kill -TERM "$PID"
  wait_until 60 is_gone || return 1
  PID=''
}
is_gone() { ! kill -0 "$PID" 2>/dev/null; }
check "it ends after a TERM" ends_after_term
finish
