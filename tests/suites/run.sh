#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/suites/run.sh NAME SECONDS SCRIPT: runs one suite for ctest. A suite prints one line per check: ok, FAIL or skip.
# Exit code: 0 every check passed; 77 a check was skipped and none failed; 1 otherwise. The log is build/test-results/NAME.log.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/common.sh"

name=$1 seconds=$2 script=$3
log=$ROOT/build/test-results/$name.log
mkdir -p "$(dirname -- "$log")"
# A variable that is exported in a developer's shell must not change a test.
unset "${!CRONLATCH_@}" "${!REDISCLI_@}"

# TERM before ctest's own SIGKILL: the suite's EXIT trap then stops the servers that it started. The output goes to a file, because
# a pipe would stay open until the last background process of the suite ends.
status=0
timeout --kill-after=10 "$seconds" bash "$script" </dev/null >"$log" 2>&1 &
trap 'kill $! 2>/dev/null; wait; exit 130' INT TERM HUP
wait $! || status=$?
if [ $status -eq 124 ] || [ $status -eq 137 ]; then
  echo "FAIL  $name: terminated after $seconds s" >>"$log"
elif [ $status -ne 0 ] && [ $status -ne 77 ] && ! grep -q '^FAIL ' "$log"; then
  echo "FAIL  $name: exit code $status" >>"$log"
elif ! grep -qE '^(ok|FAIL|skip) ' "$log"; then
  echo "FAIL  $name: checked nothing" >>"$log"
fi
cat "$log"
if grep -q '^FAIL ' "$log"; then exit 1; fi
if grep -q '^skip ' "$log"; then exit 77; fi
