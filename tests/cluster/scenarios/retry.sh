#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A retry of a Job waits for the lease of its killed pod and then runs; it is not skipped, because a skip would make the
# failed Job complete.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# The lease is longer than the ten seconds that Kubernetes waits before it creates the next pod.
BACKOFF=2 cronjob report lock=true ttl=30s -- "echo began; while [ ! -e /tmp/end ]; do sleep 0.1; done; echo ended"
start_job report run
needs "the first pod holds the lock" holds run
first=$(pod_of run)
check "the first pod is killed" kill_pod "$first"
has_second_pod() { [ "$(pod_of run)" != "$first" ]; }
becomes "Kubernetes creates a second pod" has_second_pod
second=$(pod_of run)
waits() { [ "$(k get pod "$second" -o 'jsonpath={.status.phase}')" = Running ] && lacks began k logs "$second" -c main; }
becomes "the retry waits" waits
runs_now() { k logs "$second" -c main | grep -q began; }
becomes "the retry runs after the lease has ended" runs_now
k exec "$second" -c main -- touch /tmp/end
becomes "the Job completes" complete run
check "its outcome is ran" outcome_has run '"outcome":"ran"'
check "no pod of the Job was skipped" lacks skipped k get pods -o 'jsonpath={.items[*].status.containerStatuses[0].state.terminated.message}'
finish
