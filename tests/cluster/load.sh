# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A steady load: dry runs of an annotated Job, which pass the webhook like other requests, and a Job that runs every few
# seconds. Sourced by scenarios.

# start_load CRONJOB
start_load() {
  LOAD=$(mktemp -d)
  k create job probe --from="cronjob/$1" --dry-run=client -o json >"$LOAD/job.json"
  (
    while [ ! -e "$LOAD/end" ]; do
      if k create -f "$LOAD/job.json" --dry-run=server -o 'jsonpath={.spec.template.spec.containers[0].command[0]}{"\n"}' \
        >>"$LOAD/commands" 2>>"$LOAD/errors"; then echo >>"$LOAD/admitted"; fi
    done
  ) &
  LOAD_PID=$!
  wait_until 60 [ -s "$LOAD/admitted" ] || fail "no Job of the load was admitted within 60 s"
}

end_load() {
  touch "$LOAD/end"
  wait "$LOAD_PID"
}

none_failed() {
  echo "$(wc -l <"$LOAD/admitted") admitted; errors:"
  cat "$LOAD/errors"
  [ ! -s "$LOAD/errors" ] && [ "$(wc -l <"$LOAD/admitted")" -ge 10 ]
}
all_gated() { [ -s "$LOAD/commands" ] && ! grep -vF /cronlatch-bin/cronlatch "$LOAD/commands"; }

# start_runs CRONJOB: creates a Job every 3 s.
start_runs() {
  RUNS=$(mktemp -d)
  (
    for ((i = 0; ; ++i)); do
      [ ! -e "$RUNS/end" ] || break
      k create job "$1-$SECONDS-$i" --from="cronjob/$1" -o name >>"$RUNS/jobs" 2>>"$RUNS/errors"
      sleep 3
    done
  ) &
  RUNS_PID=$!
}

end_runs() {
  touch "$RUNS/end"
  wait "$RUNS_PID"
}

# No Job was refused, and each was gated: its pod has an outcome.
runs_completed() {
  local job
  cat "$RUNS/errors"
  [ ! -s "$RUNS/errors" ] && [ -s "$RUNS/jobs" ] || return 1
  while read -r job; do
    k wait --for=condition=Complete --timeout=120s "$job" >/dev/null && outcome_has "${job#job.batch/}" '"v":1' || return 1
  done <"$RUNS/jobs"
}
