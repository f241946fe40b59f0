#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The holder's pod is killed with SIGKILL: another run acquires the lock after the lease, and the steal is counted.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob victim lock=shared ttl=30s -- "$HOLD"
cronjob successor lock=shared ttl=30s on-busy=wait -- "echo second command, fence \$CRONLATCH_FENCE"
start_job victim holder
needs "the first run holds the lock" holds holder
start_job successor waiter
waits() { [ "$(k get pod "$(pod_of waiter)" -o 'jsonpath={.status.phase}')" = Running ]; }
needs "the second run waits" waits

check "the holder is killed" kill_pod "$(pod_of holder)"
becomes "the holder's Job fails" failed holder
becomes "the second run acquires the lock after the lease" complete waiter
check "its command ran" log_has waiter "second command, fence"
check "its outcome contains the time that it waited" outcome_has waiter '"outcome":"ran"' '"waited_ms":'
stolen_once() { [ "$(counter lock_stolen_total "$NS/victim")" = 1 ]; }
becomes "one steal is counted, for the CronJob of the killed run" stolen_once
becomes "an Event on the CronJob of the second run reports the steal" event Stolen CronJob/successor "$NS/shared"
finish
