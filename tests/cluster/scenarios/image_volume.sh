#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The value injection: with `auto` and `image-volume`, gated pods mount the image instead of an init container. Needs Kubernetes 1.36.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
runtime=$(kubectl get node "$NAME" -o 'jsonpath={.status.nodeInfo.kubeletVersion} {.status.nodeInfo.containerRuntimeVersion}')
if ! [[ $runtime =~ ^v1\.(3[6-9]|[4-9][0-9])\..*\ containerd://2\. ]]; then
  skip "all checks" "the node has $runtime, without image volumes"
  exit 0
fi
fresh_namespace pod-security.kubernetes.io/enforce-version=latest

restore() {
  set_values >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}
trap restore EXIT
form() {  # form CRONJOB: the volume and the init containers of its Jobs
  k create job "probe-$RANDOM" --from="cronjob/$1" --dry-run=server -o json | jq -r '.spec.template.spec
    | (.volumes[] | select(.name == "cronlatch-bin") | if .image then "image" elif .emptyDir then "copy" else "none" end)
    + " " + ([.initContainers[]?.name] | join(","))'
}
operator_log_has() { kubectl -n cronlatch logs -l app.kubernetes.io/component=operator --tail=-1 | grep -F -- "$1" >/dev/null; }
mounts() { [ "$(form "$1")" = "image " ]; }
copies() { [ "$(form "$1")" = "copy cronlatch-install" ]; }

# shellcheck disable=SC2016  # the pod's shell expands it
cronjob nightly lock=true -- 'touch /cronlatch-bin/x 2>/dev/null && echo writable || echo read-only; echo uid=$(id -u)'
cronjob long lock=true -- "$HOLD"
k patch cronjob nightly --type=json --patch '[
  {"op":"add","path":"/spec/jobTemplate/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem","value":true},
  {"op":"add","path":"/spec/jobTemplate/spec/template/spec/securityContext/runAsUser","value":12345}]' >/dev/null
check "control: by default an init container copies the wrapper" copies nightly

check "the chart value injection is set to auto" set_values --set injection=auto
becomes "the operator mounts the image, because the node is proven" mounts nightly
check "a Job is created where the restricted profile is enforced" start_job nightly run
becomes "it completes" complete run
check "its outcome is ran, with its lock" outcome_has run '"outcome":"ran"' "\"lock\":\"$NS/nightly\""
check "the mount is read-only" log_has run read-only
check "the command ran with the uid of the pod" log_has run uid=12345
start_job long holder
needs "a run holds its lock" holds holder
start_job long second
becomes "a second run of this lock completes" complete second
check "it was skipped" outcome_has second '"outcome":"skipped"'
end_command holder
becomes "the first run completes" complete holder

# A node that is not proven: an object without a kubelet.
old_node() {
  kubectl create -f - <<'JSON' && kubectl patch node old --subresource=status --type=merge --patch \
    '{"status":{"nodeInfo":{"kubeletVersion":"v1.36.0","containerRuntimeVersion":"containerd://1.7.30"}}}'
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "old"}}
JSON
}
check "a node with an older container runtime joins" old_node
becomes "new Jobs have an init container" copies nightly
becomes "the log names the node" operator_log_has "old: container runtime"
check "the node is cordoned" kubectl cordon old
becomes "new Jobs mount the image again" mounts nightly
check "the node leaves" kubectl delete node old

check "the chart value injection is set to image-volume" set_values --set injection=image-volume
becomes "the operator mounts the image" mounts nightly
start_job nightly explicit
becomes "a Job completes" complete explicit
check "its outcome is ran" outcome_has explicit '"outcome":"ran"'

# A Job with the other form is converted: a copy of a gated Job.
k get job explicit -o json | jq '{apiVersion, kind, metadata: {name: "copied", annotations: .metadata.annotations}, spec: {backoffLimit: 0, template: .spec.template}}
  | .spec.template.metadata.labels |= {"cronlatch.dev/gated"}' >"$DIR/copied.json"
check "the chart value injection is set to init-container" set_values --set injection=init-container
becomes "the operator adds the init container" copies nightly
check "a copy of a Job that mounts the image is created" k create -f "$DIR/copied.json"
becomes "it completes" complete copied
check "an init container copied the wrapper" test "$(k get job copied -o 'jsonpath={.spec.template.spec.initContainers[*].name}')" = cronlatch-install
finish
