# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for measurements of the operator with etcd and kube-apiserver: no scheduler, no controllers, no kubelet.
# Sourced by scripts/bench_*.sh.

SCRIPTS=$(dirname -- "${BASH_SOURCE[0]}")
for part in common pki plane node down; do
  # shellcheck source=/dev/null
  source "$SCRIPTS/cluster_$part.sh"
done
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"

can_start_api_server() { [ "$(id -u)" -eq 0 ] && command -v etcd >/dev/null && [ -x "$TOOLS/kube-apiserver" ]; }

# start_bench_cluster NAME: the API server with the namespaces cronlatch and bench. It ends with the script.
start_bench_cluster() {
  use_cluster "$1"
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
}

# start_in_cluster: the operator with DIR/bench/operator.yaml, which serves its metrics at 127.0.0.1:8080. Sets PID.
start_in_cluster() {
  # shellcheck disable=SC2016  # the inner shell's own variables
  start operator unshare --mount --propagation private env KUBERNETES_SERVICE_HOST="$NODE_IP" KUBERNETES_SERVICE_PORT=6443 \
    POD_NAME=bench POD_NAMESPACE=cronlatch sh -c 'mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
      cp "$1/ca.crt" "$1/token" /run/secrets/kubernetes.io/serviceaccount/ && exec "$2" --config "$1/operator.yaml"' \
    sh "$DIR/bench" "$OPERATOR"
  PID=$(cat "$DIR/pid/operator")
}

cpu_ms() {  # utime and stime, in ticks of 10 ms
  sed 's/.*) //' "/proc/$PID/stat" | awk '{ print ($12 + $13) * 10 }'
}
metrics() { in_cluster bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3' 2>/dev/null | tr -d '\r'; }
metric() { metrics | sed -nE "s/^$1 //p"; }
leads() { [ "$(metric cronlatch_leader)" = 1 ]; }
gated() { [ "$(metric 'cronlatch_gated_cronjobs\{state="gated"\}')" = "$1" ]; }
