#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs without an annotation of cronlatch are not changed.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob bare -- "echo ran"
cronjob other -- "echo ran"
k annotate cronjob other example.com/lock=true >/dev/null
start_job bare one
job two -- "echo ran"
job three -- "echo ran"
job four lock=false -- "echo ran"
for name in one two three four; do
  becomes "Job $name completes" complete $name
  untouched() {
    [ "$(k get job "$name" -o 'jsonpath={.spec.template.spec.containers[0].command[0]}')" = sh ] &&
      finds_none k get job "$name" -o 'jsonpath={.spec.template.spec.initContainers}{.spec.template.spec.volumes}'
  }
  check "Job $name has its own command, no init container, no volume" untouched
done
check "the Job has no annotation of cronlatch" lacks cronlatch.dev/ k get job two -o 'jsonpath={.metadata}{.spec.template.metadata}'
check "the Job template of the CronJob has no annotation of cronlatch" lacks cronlatch.dev k get cronjob bare -o 'jsonpath={.metadata.name}: {.spec.jobTemplate}'
finish
