# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# An API server without controllers and nodes, for the tests that evaluate policies. Sourced after lib.sh: it runs the test
# again in its own namespaces for network and processes, which end with the test, or skips it. KUBERNETES_VERSION: as in
# ./dev cluster up --kubernetes.

TOOLS=$ROOT/build/cluster/tools${KUBERNETES_VERSION:+-$KUBERNETES_VERSION}
if [ ! -x "$TOOLS/kube-apiserver" ] || [ ! -x "$TOOLS/kubectl" ]; then
  skip "everything" "kube-apiserver not found (./dev cluster builds it)"
  exit 0
fi
if ! command -v etcd >/dev/null || ! unshare --net --pid --fork true 2>/dev/null; then
  skip "everything" "requires etcd, and the right to create a network namespace"
  exit 0
fi
if [ "${1:-}" != inside ]; then
  rm -rf -- "$STAGE"
  # When the first process of a PID namespace ends, the kernel kills all others.
  exec unshare --net --pid --fork --kill-child --mount-proc bash "$0" inside
fi

# 1.34 serves MutatingAdmissionPolicy and image volumes only with these flags, and without an API server helm must know the version of its API.
API_FLAGS=()
API_VERSIONS=()
if [ -z "${KUBERNETES_VERSION:-}" ]; then
  API_FLAGS=(--feature-gates="MutatingAdmissionPolicy=true,ImageVolume=true" --runtime-config=admissionregistration.k8s.io/v1beta1=true)
  # shellcheck disable=SC2034 # for the tests
  API_VERSIONS=(--api-versions admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy)
fi

start_api_server() {
  ip link set lo up
  openssl genrsa -out "$STAGE/sa.key" 2048 2>/dev/null
  openssl rsa -in "$STAGE/sa.key" -pubout -out "$STAGE/sa.pub" 2>/dev/null
  echo 'token,admin,1,"system:masters"' >"$STAGE/tokens.csv"
  etcd --data-dir "$STAGE/etcd" --unsafe-no-fsync >"$STAGE/etcd.log" 2>&1 &
  "$TOOLS/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --bind-address=127.0.0.1 --advertise-address=198.18.0.1 \
    --endpoint-reconciler-type=none --cert-dir="$STAGE/certs" --token-auth-file="$STAGE/tokens.csv" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$STAGE/sa.pub" \
    --service-account-signing-key-file="$STAGE/sa.key" --authorization-mode=RBAC --service-cluster-ip-range=198.18.8.0/24 \
    --disable-admission-plugins=ServiceAccount "${API_FLAGS[@]}" >"$STAGE/api.log" 2>&1 &
  wait_until 120 k get --raw /readyz >/dev/null 2>&1 || { tail -n 5 "$STAGE/api.log" "$STAGE/etcd.log" && return 1; }
}
k() { "$TOOLS/kubectl" --server https://127.0.0.1:6443 --insecure-skip-tls-verify --token token "$@"; }
