#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A CronJob with Replace and a deadline of at most two leases is admitted: its runs wait for the lock, and a warning reports this.
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
becomes "the next run waits" log_has second "waiting"
end_command first
becomes "it runs when the lock is free" holds second
end_command second
becomes "the Job of the second run completes" complete second
check "its outcome is ran" outcome_has second '"outcome":"ran"'
finish
