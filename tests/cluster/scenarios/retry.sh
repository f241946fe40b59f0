#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A retry of the same Job waits for the lease of its killed predecessor and runs; it never "skips", which would turn a
# failed Job into a complete one.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# The lease outlives the ten seconds that Kubernetes waits before it makes the next pod.
BACKOFF=2 cronjob report lock=true ttl=30s -- "echo began; while [ ! -e /tmp/end ]; do sleep 0.1; done; echo ended"
start_job report run
needs "the first pod holds the lock" holds run
first=$(pod_of run)
check "it is killed" kill_pod "$first"
second_there() { [ "$(pod_of run)" != "$first" ]; }
becomes "Kubernetes makes another pod" second_there
second=$(pod_of run)
waits() { [ "$(k get pod "$second" -o 'jsonpath={.status.phase}')" = Running ] && lacks began k logs "$second" -c main; }
becomes "the retry waits" waits
runs_now() { k logs "$second" -c main | grep -q began; }
becomes "the retry runs when the lease is over" runs_now
k exec "$second" -c main -- touch /tmp/end
becomes "the Job completes" complete run
check "its outcome is ran" outcome_has run '"outcome":"ran"'
check "no pod of it was skipped" lacks skipped k get pods -o 'jsonpath={.items[*].status.containerStatuses[0].state.terminated.message}'
finish
