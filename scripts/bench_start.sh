#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench start [ROUNDS]: the time from the creation of a Job to the start of its command: not gated, with the init
# container, with the image volume (docs/decisions/0055), that many of each (default 20), interleaved, one at a time. These
# pods have the volume with the service account's token, as by default. The fourth form has no volume at all: the kubelet
# polls every 300 ms whether volumes are mounted (podAttachAndMountRetryInterval), and a pod without a volume does not wait. On a
# cluster of Kubernetes 1.36 named `bench`, which is started and stopped, unless it runs. Both times are read from
# /proc/uptime (10 ms). The exit code is 1 when a budget is exceeded: 1.5 s more with the init container, 0.3 s with the
# image volume.
set -euo pipefail
# shellcheck source=scripts/cluster_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cluster_common.sh"

ROUNDS=${1:-20}
case $ROUNDS in *[!0-9]* | '' | 0) echo "usage: ./dev bench start [ROUNDS]" >&2 && exit 64 ;; esac
NS=bench-start
STAGE=$(mktemp -d)
use_cluster "${CLUSTER:-bench}"
started=
end() {
  rm -rf -- "$STAGE"
  [ -z "$started" ] || bash "$ROOT/scripts/cluster.sh" down "$NAME"
}
trap end EXIT

if [ ! -e "$DIR/complete" ]; then
  started=true
  bash "$ROOT/scripts/cluster.sh" up "$NAME" --quick --kubernetes 1.36
fi
use_cluster "$NAME"
read_addresses
helm upgrade cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" --set injection=auto --wait >/dev/null
kubectl delete namespace "$NS" --ignore-not-found --wait >/dev/null
kubectl create namespace "$NS" >/dev/null
kubectl -n cronlatch get secret cronlatch-store -o json | jq --arg ns "$NS" '{apiVersion, kind, metadata: {name: .metadata.name, namespace: $ns}, data}' |
  kubectl create -f - >/dev/null
# With `auto`, a pod with a RuntimeClass gets the init container: so all three forms run with the same operator.
kubectl apply -f - >/dev/null <<'YAML'
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: plain}, handler: runc}
YAML

job() {  # job NAME FORM
  jq -n --arg name "$1" --arg form "$2" '{apiVersion: "batch/v1", kind: "Job",
    metadata: ({name: $name} + if $form | startswith("ungated") then {} else {annotations: {"cronlatch.dev/lock": $name}} end),
    spec: {backoffLimit: 0, template: {spec: ({restartPolicy: "Never", automountServiceAccountToken: ($form != "ungated-no-volume"),
      securityContext: {runAsNonRoot: true, seccompProfile: {type: "RuntimeDefault"}},
      containers: [{name: "main", image: "cronlatch.test/shell:1", imagePullPolicy: "Never", command: ["cat", "/proc/uptime"],
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: ["ALL"]}}}]}
      + if $form == "init-container" then {runtimeClassName: "plain"} else {} end)}}}'
}
request() {  # request METHOD PATH [FILE]: without the start of a kubectl
  in_cluster curl --silent --fail --cacert "$DIR/pki/ca.crt" --cert "$DIR/pki/admin.crt" --key "$DIR/pki/admin.key" \
    --request "$1" --header 'Content-Type: application/json' ${3:+--data-binary @"$3"} "https://$NODE_IP:6443$2"
}
mounts() { job probe "$1" | kubectl -n "$NS" create --dry-run=server -o json -f - | jq -e '.spec.template.spec | [.volumes[]?, .initContainers[]?] | any(.image | objects)' >/dev/null; }
ends() { request GET "/apis/batch/v1/namespaces/$NS/jobs/$1" | jq -e '.status.conditions // [] | any(.type == "Complete" or .type == "Failed")' >/dev/null; }

await 60 mounts image-volume || stop_here "the operator does not mount the image: kubectl -n cronlatch logs deployment/cronlatch-operator"
! mounts init-container || stop_here "the operator mounts the image in a pod with a RuntimeClass"

run() {  # run NAME FORM: appends FORM and the seconds
  local before after
  job "$1" "$2" >"$STAGE/job.json"
  before=$(cut -d ' ' -f 1 /proc/uptime)
  request POST "/apis/batch/v1/namespaces/$NS/jobs" "$STAGE/job.json" >/dev/null
  await 60 ends "$1" || stop_here "Job $1 did not end"
  after=$(kubectl -n "$NS" logs "job/$1" -c main | sed -nE 's/^([0-9]+\.[0-9]+) .*/\1/p')
  echo "$2 $(jq -n "$after - $before")" >>"$STAGE/times"
  kubectl -n "$NS" delete job "$1" --wait >/dev/null
}

FORMS=(ungated init-container image-volume ungated-no-volume)
for form in "${FORMS[@]}"; do run "first-$form" "$form"; done  # the first ones load programs and images
rm "$STAGE/times"
say "$ROUNDS rounds"
for ((round = 0; round < ROUNDS; round++)); do
  for ((i = 0; i < ${#FORMS[@]}; i++)); do run "run-$round-$i" "${FORMS[(round + i) % ${#FORMS[@]}]}"; done
done
kubectl delete namespace "$NS" --wait=false >/dev/null
kubectl delete runtimeclass plain >/dev/null

quantile() { sed -n "s/^$1 //p" "$STAGE/times" | sort -n | sed -n "$(((ROUNDS * $2 + 99) / 100))p"; }
echo "| form | median | p95 | more than ungated | budget |"
echo "|---|---:|---:|---:|---:|"
status=0
base=$(quantile ungated 50)
row() {  # row FORM BUDGET
  local median more
  median=$(quantile "$1" 50)
  more=$(jq -n "$median - $base | . * 100 | round / 100")
  printf '| %s | %.2f s | %.2f s | %.2f s | %s |\n' "$1" "$median" "$(quantile "$1" 95)" "$more" "${2:+$2 s}"
  [ -z "$2" ] || [ "$(jq -n "$more <= $2")" = true ] || status=1
}
row ungated ''
row init-container 1.5
row image-volume 0.3
row ungated-no-volume ''
exit $status
