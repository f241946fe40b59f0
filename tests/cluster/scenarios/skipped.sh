#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A second CronJob that shares the lock is skipped while the first one holds it: its Job is Complete, and says by whom.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo never"
start_job first holder
needs "the first holds the lock" holds holder
holder=$(pod_of holder)

start_job second other
becomes "the second's Job is Complete" complete other
check "its command did not run" never_said other never
check "its termination message says skipped, by whom, since and until when" outcome_has other '"outcome":"skipped"' '"reason":"held"' \
  "$NS/$holder" '"since":"2' '"until":"2'
becomes "an Event on its Job says by whom" event Skipped Job/other "$holder"
becomes "an Event on its CronJob says by whom" event Skipped CronJob/second "$holder"
check "the holder still runs" unfinished holder

start_job first again
becomes "kubectl create job --from while it is held is skipped, too" complete again
check "and says so" outcome_has again '"outcome":"skipped"'

let_go holder
becomes "the holder completes" complete holder
start_job second later
becomes "afterwards the second runs" says later never
becomes "and completes" complete later
finish
