#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A CronJob with Replace and a deadline of at most two leases is admitted: its runs wait for the lock, and a warning says so.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob report lock=true -- "$HOLD"
replace() {
  local seen
  seen=$(k patch cronjob report --type=merge \
    -p '{"spec":{"concurrencyPolicy":"Replace","jobTemplate":{"spec":{"activeDeadlineSeconds":240}}}}' 2>&1) || { echo "$seen" && return 1; }
  [[ $seen == *"waits for the lock, at most 2m (half of activeDeadlineSeconds)"* ]] || { echo "$seen" && return 1; }
}
check "Replace with a deadline of 4 minutes is admitted, with a warning that its runs wait" replace
start_job report first
needs "a run holds the lock" holds first
start_job report second
becomes "the next run waits" says second "waiting"
let_go first
becomes "and runs when the lock is free" holds second
let_go second
becomes "it completes" complete second
check "it was not skipped" outcome_has second '"outcome":"ran"'
finish
