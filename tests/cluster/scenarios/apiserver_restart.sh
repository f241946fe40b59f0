#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The API server is killed and started again: a held lock stays held, and the operator goes on as before.
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
becomes "the API server is gone" eval '! api_ready'
start_apiserver
needs -t 120 "it is there again" api_ready

start_again() { start_job report second; }
becomes "a Job can be made" start_again
becomes "it is skipped: the lock is still held" complete second
check "and says so" outcome_has second '"outcome":"skipped"'
let_go holder
becomes "the holder completes" complete holder
becomes "its Event appears" event Acquired CronJob/report "$NS/report"

cronjob late -- "echo ran"
k annotate cronjob late cronlatch.dev/lock=true >/dev/null
start_job late third
becomes "a new CronJob is gated" complete third
becomes "the operator sees its pods again" event Acquired CronJob/late "$NS/late"
same_restarts() { [ "$(restarts)" = "$before" ]; }
check "the operator was not restarted for it" same_restarts
finish
