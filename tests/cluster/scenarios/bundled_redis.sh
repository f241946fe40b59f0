#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Redis of the chart (redis.enabled): a run, a skipped run, metrics, a deleted pod and an upgrade during a run, a namespace with a label, an uninstall.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/uninstall.sh
source "$ROOT/tests/cluster/uninstall.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

LABELED=$NS-labeled
VOLUME=$(mktemp -d)
SECRET=bundled-store  # the usual one exists here, and has another owner
chmod 777 "$VOLUME"
restore() {
  kubectl delete namespace "$LABELED" --wait=false >/dev/null 2>&1
  restore_release
  kubectl -n cronlatch delete secret "$SECRET" --ignore-not-found >/dev/null
  kubectl -n cronlatch delete pvc data-cronlatch-redis-0 --ignore-not-found --wait=false >/dev/null
  kubectl delete pv bundled-redis --ignore-not-found --wait=false >/dev/null
  rm -rf -- "$VOLUME"
}
trap restore EXIT

kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: {name: bundled-redis}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  claimRef: {namespace: cronlatch, name: data-cronlatch-redis-0}
  hostPath: {path: $VOLUME}
YAML
cat >"$DIR/bundled-redis.yaml" <<YAML
store: {url: "", secretName: $SECRET}
redis:
  enabled: true
  namespaces: [$NS]
  namespaceLabels: {cronlatch.test/redis: "true"}
  image: {registry: cronlatch.test, repository: redis, tag: "1", pullPolicy: Never}
  persistence: {storageClass: "-"}
YAML
use_redis() {  # OPTION...: of helm
  helm upgrade cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" \
    --values "$DIR/bundled-redis.yaml" "$@" --wait --timeout 4m
}
redis_ready() { kubectl -n cronlatch rollout status statefulset cronlatch-redis --timeout=1s; }
redis_pod() { kubectl -n cronlatch get pod cronlatch-redis-0 -o 'jsonpath={.metadata.uid}'; }
is_new_pod() { [ "$(redis_pod)" != "$1" ] && redis_ready; }
# The seed of all passwords, the certificates, and the credentials of the namespace. The API server sorts the keys.
credentials() { kubectl -n cronlatch get secret cronlatch-redis -o 'jsonpath={.data}' && k get secret "$SECRET" -o 'jsonpath={.data}'; }
has_credentials() { [ -n "$1" ] && [ "$(credentials)" = "$1" ]; }
has_secret() { [ "$(kubectl -n "$1" get secret "$SECRET" -o 'jsonpath={.data.username}' | base64 -d)" = "ns-$1" ]; }
operator_may() { kubectl auth can-i "$@" --as=system:serviceaccount:cronlatch:cronlatch-operator; }

check "the chart is installed with redis.enabled, and its Redis becomes ready" use_redis
needs "Redis is ready" redis_ready
needs "the operator writes the Secret of the namespace" has_secret "$NS"
refuses "the operator cannot read it" operator_may get "secret/$SECRET" -n "$NS"
refuses "the operator cannot write another Secret" operator_may patch secret/other -n "$NS"

cronjob nightly lock=true -- "$HOLD"
start_job nightly one
needs "an annotated CronJob runs" holds one
start_job nightly two
becomes "a second run completes" complete two
check "it was skipped, and its outcome contains the holder" outcome_has two '"outcome":"skipped"' '"reason":"held"' "$NS/$(pod_of one)"
becomes "an Event on its Job contains the holder" event Skipped Job/two "$(pod_of one)"
# The kubelet mounts the operator's credentials a minute or two after the first start.
becomes -t 200 "the skip is exported" exported "cronlatch_lock_skipped_total$(lock_of nightly nightly ',reason="held"') 1"

pod=$(redis_pod)
check "the pod of Redis is deleted during the run" kubectl -n cronlatch delete pod cronlatch-redis-0 --wait=false
becomes "a new pod is ready" is_new_pod "$pod"
check "the holder still runs" unfinished one
start_job nightly three
becomes "a third run completes" complete three
check "it was skipped: the lock was kept" outcome_has three '"outcome":"skipped"' "$NS/$(pod_of one)"
end_command one
becomes "the holder completes" complete one
check "its outcome is ran" outcome_has one '"outcome":"ran"'
start_job nightly four
becomes "another run is granted the lock" holds four

pod=$(redis_pod) before=$(credentials)
check "helm upgrade with another memory limit of Redis, during the run" use_redis --set redis.maxMemory=160mb,redis.resources.limits.memory=224Mi
becomes "the pod is replaced, and ready" is_new_pod "$pod"
check "passwords and certificates are the same" has_credentials "$before"
refuses "control: other credentials are found" has_credentials "$before-"
check "the holder runs during the upgrade" unfinished four
start_job nightly five
becomes "a run after the upgrade completes" complete five
check "it was skipped: the upgrade kept the lock" outcome_has five '"outcome":"skipped"' "$NS/$(pod_of four)"
becomes "the counter of skipped runs was kept" exported "cronlatch_lock_skipped_total$(lock_of nightly nightly ',reason="held"') 3"
end_command four
becomes "it completes" complete four

kubectl create namespace "$LABELED" >/dev/null
kubectl label namespace "$LABELED" cronlatch.test/redis=true >/dev/null
becomes "a namespace with the label gets its Secret" has_secret "$LABELED"

check "helm uninstall succeeds" uninstall
needs "only the policies remain of the operator" only_policies_left
redis_left() { kubectl -n cronlatch get all,configmaps,secrets,networkpolicies,poddisruptionbudgets,roles,rolebindings -o name | grep redis; }
check "no object of Redis remains, its own Secret included" finds_none eval 'redis_left || true'
check "the claim with the locks remains" kubectl -n cronlatch get pvc data-cronlatch-redis-0
check "the Secret of the namespace remains" has_secret "$NS"
finish
