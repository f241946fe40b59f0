#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The scheduled run of an annotated CronJob is gated and completes; the CronJob's own command is not changed.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

SCHEDULE='* * * * *' cronjob plain -- "echo fence=\$CRONLATCH_FENCE"
check "kubectl annotate adds the annotation to a CronJob" k annotate cronjob plain cronlatch.dev/lock=true
copied() { [ "$(k get cronjob plain -o 'jsonpath={.spec.jobTemplate.metadata.annotations.cronlatch\.dev/lock}')" = true ]; }
becomes "the annotation is copied to the Job template" copied
command_unchanged() {
  [ "$(k get cronjob plain -o 'jsonpath={.spec.jobTemplate.spec.template.spec.containers[0].command[0]}')" = sh ]
}
check "the CronJob's own command is not changed" command_unchanged

scheduled_job() { k get jobs -o 'jsonpath={.items[0].metadata.name}' | grep .; }
needs -t 90 "a scheduled Job starts" scheduled_job
job=$(scheduled_job)
k patch cronjob plain --patch '{"spec":{"suspend":true}}' >/dev/null
becomes "its Job completes" complete "$job"
check "its outcome is ran and contains the name of the lock" outcome_has "$job" '"outcome":"ran"' "\"lock\":\"$NS/plain\""
check "the command printed its fencing token" log_has "$job" "fence="
gated() { k get pod "$(pod_of "$job")" -o 'jsonpath={.spec.containers[0].command}' | grep -F '/cronlatch-bin/cronlatch'; }
check "the pod's command starts with the wrapper" gated
becomes "an Event reports that the lock was acquired" event Acquired "Job/$job" "$NS/plain"
finish
