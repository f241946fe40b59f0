#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An annotated CronJob's scheduled run is gated and completes; nothing but the annotation was added to it.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

SCHEDULE='* * * * *' cronjob plain -- "echo fence=\$CRONLATCH_FENCE"
check "kubectl annotate makes a CronJob gated" k annotate cronjob plain cronlatch.dev/lock=true
mirrored() { [ "$(k get cronjob plain -o 'jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\.dev/lock}')" = true ]; }
becomes "the annotation is mirrored to where Kubernetes copies it from" mirrored
spec_is_its_own() {
  [ "$(k get cronjob plain -o 'jsonpath={.spec.jobTemplate.spec.template.spec.containers[0].command[0]}')" = sh ]
}
check "the CronJob's own command is as it was written" spec_is_its_own

tick() { k get jobs -o 'jsonpath={.items[0].metadata.name}' | grep .; }
needs -t 90 "a tick comes" tick
job=$(tick)
k patch cronjob plain --patch '{"spec":{"suspend":true}}' >/dev/null
becomes "its Job completes" complete "$job"
check "its outcome is ran, with the lock's name" outcome_has "$job" '"outcome":"ran"' "\"lock\":\"$NS/plain\""
check "the command saw its fencing token" says "$job" "fence="
gated() { k get pod "$(pod_of "$job")" -o 'jsonpath={.spec.containers[0].command}' | grep -F '/cronlatch-bin/cronlatch'; }
check "the pod's command starts with the wrapper" gated
becomes "an Event says that the lock was acquired" event Acquired "Job/$job" "$NS/plain"
finish
