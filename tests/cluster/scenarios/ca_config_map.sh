#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The store's CA certificates come from a ConfigMap, for the operator and for gated pods; its ca.crt replaces the Secret's.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# config_map NAMESPACE: as trust-manager writes it.
config_map() {
  kubectl -n "$1" create configmap store-ca --from-file=bundle.pem="$DIR/store/ca.crt" --dry-run=client -o yaml |
    kubectl apply --server-side --force-conflicts -f - >/dev/null
}
restore() {
  store_secret cronlatch
  set_values >/dev/null
  kubectl -n cronlatch delete configmap store-ca --ignore-not-found >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}
trap restore EXIT
# A replica that terminates still answers the webhook, with the settings of before.
old_replicas_are_gone() {
  [ -z "$(kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o 'jsonpath={.items[*].metadata.deletionTimestamp}')" ]
}
# Every replica reads the store after its start.
store_is_up() {
  local pod pods
  pods=$(kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o name) && [ -n "$pods" ] || return 1
  for pod in $pods; do
    kubectl get --raw "/api/v1/namespaces/cronlatch/pods/${pod#pod/}:8080/proxy/metrics" | grep -E '^cronlatch_store_up\{[^}]*\} 1' || return 1
  done
}

# The Secrets have the credentials, and the CA of another server.
authority "$DIR/other-ca" "another server" >/dev/null 2>&1
secret_of_files "$NS" cronlatch-store "$DIR"/store/{username,password,tls.crt,tls.key} "$DIR/other-ca/ca.crt"
secret_of_files cronlatch cronlatch-store "$DIR"/store/{username,password,tls.crt,tls.key} "$DIR/other-ca/ca.crt"
cronjob nightly lock=true -- "echo ran"
start_job nightly distrusts
becomes "control: with the CA of another server in the Secret, the run fails" failed distrusts
check "its outcome names TLS" outcome_has distrusts '"outcome":"refused"' '"reason":"tls"'

config_map "$NS"
config_map cronlatch
check "the chart value store.caConfigMap is set" set_values --set store.caConfigMap=store-ca,store.caConfigMapKey=bundle.pem
becomes "only replicas with the new settings answer" old_replicas_are_gone
becomes "each replica of the operator reads the store with the CA of the ConfigMap" store_is_up
becomes "the webhook admits Jobs" admitted nightly
start_job nightly trusts
becomes "a run with the ConfigMap completes" complete trusts
check "its outcome is ran" outcome_has trusts '"outcome":"ran"'
cronjob long lock=true -- "$HOLD"
start_job long holder
needs "another run holds its lock" holds holder
plugin() { in_cluster env KUBECONFIG="$ADMIN" PATH="${PLUGIN%/*}:$TOOLS:$PATH" kubectl cronlatch "$@" -n "$NS"; }
revoked() { plugin release long --force 2>&1 | grep -F "revoked the lease of $NS/$(pod_of holder)"; }
check "the Job of kubectl cronlatch release mounts the ConfigMap, too" revoked
becomes "the holder's command was stopped" failed holder

k delete configmap store-ca >/dev/null
start_job nightly without
becomes "without the ConfigMap the ca.crt of the Secret is used, and the run fails" failed without
check "its outcome names TLS" outcome_has without '"outcome":"refused"' '"reason":"tls"'
finish
