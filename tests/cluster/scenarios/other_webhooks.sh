#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gate behind a program that another webhook put first, or moved to args: gated once, and its run is read as any other.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# What an injector of secrets makes of a container: its own program, and all else as its arguments.
INJECT='.containers[0] |= (.args = .command + (.args // []) | .command = ["env"])'
template() { k get job first -o json | jq "$1"; }
words() { k get job "$1" -o json | jq -c '.spec.template.spec.containers[0] | [.command[], .args[]?]'; }

cronjob nightly lock=true -- "echo ran"
start_job nightly first
becomes "a gated run completes" complete first

# Such a webhook for Jobs.
moved_job() {
  template "{apiVersion, kind, metadata: {name: \"moved\", annotations: .metadata.annotations, ownerReferences: .metadata.ownerReferences},
    spec: {backoffLimit: 0, template: {metadata: {annotations: .spec.template.metadata.annotations},
      spec: (.spec.template.spec | $INJECT)}}}" | k create -f -
}
check "a Job whose gate was moved to args is admitted" moved_job
gates() { words moved | jq -e '[.[] | select(. == "/cronlatch-bin/cronlatch")] | length == 1'; }
check "it is gated once" gates
program_stays() { words moved | jq -e 'index("env") > index("--")'; }
check "the program stands behind the gate" program_stays
becomes "it completes" complete moved
check "its command ran under the lock" outcome_has moved '"outcome":"ran"'
check "it printed what it prints" says moved ran

# Such a webhook for pods: what the operator reads is the pod.
moved_pod() {
  template "{apiVersion: \"v1\", kind: \"Pod\", metadata: {name: \"moved-pod\",
    labels: {\"cronlatch.dev/gated\": \"true\", \"batch.kubernetes.io/controller-uid\": .metadata.uid},
    ownerReferences: [{apiVersion, kind, name: .metadata.name, uid: .metadata.uid, controller: true}]},
    spec: (.spec.template.spec | $INJECT)}" | k create -f -
}
check "a pod whose gate was moved to args is created" moved_pod
ran() { k get pod moved-pod -o 'jsonpath={.status.containerStatuses[0].state.terminated.message}' | grep -F '"outcome":"ran"'; }
becomes "it runs under the lock" ran
becomes "its run is told on the Job" event Acquired Job/first "pod moved-pod held lock $NS/nightly"
becomes "and on the CronJob" event Acquired CronJob/nightly "pod moved-pod held lock $NS/nightly"
finish
