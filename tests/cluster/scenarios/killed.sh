#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The holder's pod is killed without grace: the lock passes on after the lease, and the steal is counted.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob victim lock=shared ttl=30s -- "$HOLD"
cronjob heir lock=shared ttl=30s on-busy=wait -- "echo inherited, fence \$CRONLATCH_FENCE"
start_job victim holder
needs "the victim holds the lock" holds holder
start_job heir waiter
waits() { [ "$(k get pod "$(pod_of waiter)" -o 'jsonpath={.status.phase}')" = Running ]; }
needs "the heir waits" waits

check "the holder is killed" kill_pod "$(pod_of holder)"
becomes "the holder's Job failed" failed holder
becomes "the heir acquires the lock after the lease" complete waiter
check "its command ran" says waiter inherited
check "it says that it waited" outcome_has waiter '"outcome":"ran"' '"waited_ms":'
stolen_once() { [ "$(counter lock_stolen_total "$NS/victim")" = 1 ]; }
becomes "one steal is counted, for the victim" stolen_once
becomes "an Event on the heir's CronJob says that it took the lock over" event Stolen CronJob/heir "$NS/shared"
finish
