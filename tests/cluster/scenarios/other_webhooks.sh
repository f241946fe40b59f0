#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another webhook puts a program before the gate, or moves the gate to args: the Job is gated once, and its run is reported.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# As an injector of secrets changes a container: its own program is the command, and the previous command becomes its
# arguments.
INJECT='.containers[0] |= (.args = .command + (.args // []) | .command = ["env"])'
template() { k get job first -o json | jq "$1"; }
words() { k get job "$1" -o json | jq -c '.spec.template.spec.containers[0] | [.command[], .args[]?]'; }

cronjob nightly lock=true -- "echo ran"
start_job nightly first
becomes "a gated run completes" complete first

# A Job, changed by such a webhook.
moved_job() {
  template "{apiVersion, kind, metadata: {name: \"moved\", annotations: .metadata.annotations, ownerReferences: .metadata.ownerReferences},
    spec: {backoffLimit: 0, template: {metadata: {annotations: .spec.template.metadata.annotations},
      spec: (.spec.template.spec | $INJECT)}}}" | k create -f -
}
check "a Job whose gate was moved to args is admitted" moved_job
gates() { words moved | jq -e '[.[] | select(. == "/cronlatch-bin/cronlatch")] | length == 1'; }
check "the Job is gated once" gates
program_stays() { words moved | jq -e 'index("env") > index("--")'; }
check "the program of the other webhook follows the gate" program_stays
becomes "the Job completes" complete moved
check "its command ran under the lock" outcome_has moved '"outcome":"ran"'
check "its command printed its line" log_has moved ran

# A pod, changed by such a webhook: the operator reads the pod.
moved_pod() {
  template "{apiVersion: \"v1\", kind: \"Pod\", metadata: {name: \"moved-pod\",
    labels: {\"cronlatch.dev/gated\": \"true\", \"batch.kubernetes.io/controller-uid\": .metadata.uid},
    ownerReferences: [{apiVersion, kind, name: .metadata.name, uid: .metadata.uid, controller: true}]},
    spec: (.spec.template.spec | $INJECT)}" | k create -f -
}
check "a pod whose gate was moved to args is created" moved_pod
ran() { k get pod moved-pod -o 'jsonpath={.status.containerStatuses[0].state.terminated.message}' | grep -F '"outcome":"ran"'; }
becomes "the command of the pod runs under the lock" ran
becomes "the run is recorded as an Event on the Job" event Acquired Job/first "pod moved-pod: held lock $NS/nightly"
becomes "the run is recorded as an Event on the CronJob" event Acquired CronJob/nightly "pod moved-pod: held lock $NS/nightly"
finish
