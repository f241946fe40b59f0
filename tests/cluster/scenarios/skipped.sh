#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A second CronJob with the same lock is skipped while the first holds it: its Job is Complete, and reports the holder.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

cronjob first lock=shared -- "$HOLD"
cronjob second lock=shared -- "echo never"
start_job first holder
needs "the first run holds the lock" holds holder
holder=$(pod_of holder)

start_job second other
becomes "the Job of the second CronJob is Complete" complete other
check "its command did not run" did_not_print other never
check "its termination message contains skipped, the holder, the start and the end of the lease" outcome_has other '"outcome":"skipped"' '"reason":"held"' \
  "$NS/$holder" '"since":"2' '"until":"2'
becomes "an Event on its Job contains the holder" event Skipped Job/other "$holder"
becomes "an Event on its CronJob contains the holder" event Skipped CronJob/second "$holder"
check "the holder still runs" unfinished holder

start_job first again
becomes "a Job of kubectl create job --from completes while the lock is held" complete again
check "its outcome is skipped" outcome_has again '"outcome":"skipped"'

end_command holder
becomes "the holder completes" complete holder
start_job second later
becomes "after that, a run of the second CronJob executes its command" log_has later never
becomes "its Job completes" complete later
finish
