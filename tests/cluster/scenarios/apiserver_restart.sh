#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The API server is killed and started again: a held lock stays held, and the operator works without a restart.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/cluster_plane.sh
source "$ROOT/scripts/cluster_plane.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

restarts() { kubectl -n cronlatch get pods -o 'jsonpath={.items[*].status.containerStatuses[*].restartCount}'; }
cronjob report lock=true -- "$HOLD"
start_job report holder
needs "a run holds the lock" holds holder
before=$(restarts)

kill -9 "$(cat "$DIR/pid/kube-apiserver")"
becomes "the API server does not answer" eval '! api_ready'
start_apiserver
needs -t 120 "the API server is ready again" api_ready

start_again() { start_job report second; }
becomes "a Job can be created" start_again
becomes "the Job completes while the lock is held" complete second
check "its outcome is skipped" outcome_has second '"outcome":"skipped"'
end_command holder
becomes "the holder completes" complete holder
becomes "an Event reports that the holder acquired the lock" event Acquired CronJob/report "$NS/report"

cronjob late -- "echo ran"
k annotate cronjob late cronlatch.dev/lock=true >/dev/null
start_job late third
becomes "a new CronJob is gated" complete third
becomes "the operator reports the new run as an Event" event Acquired CronJob/late "$NS/late"
same_restarts() { [ "$(restarts)" = "$before" ]; }
check "the operator was not restarted" same_restarts
finish
