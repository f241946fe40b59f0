#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests of the checker, a control without a lock, and one minute of runs (ten with LONG_TESTS).
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"

CHAOS=$ROOT/tests/chaos
STAGE=$(mktemp -d)
trap 'rm -rf -- "$STAGE"' EXIT

# A run without a lock, whose commands live at the same time.
control_is_found() {
  bash "$ROOT/scripts/chaos.sh" --seed 1 --wrapper "$CHAOS/no_lock.sh" --results "$STAGE" >"$STAGE/control"
  local status=$?
  cat "$STAGE/control"
  [ "$status" -eq 1 ] && grep -q 'rule S1: ' "$STAGE/control"
}
# The history of the control is judged in the same way later.
control_is_found_again() {
  bash "$ROOT/scripts/chaos.sh" --check "$STAGE/1" >"$STAGE/again"
  [ $? -eq 1 ] && diff <(grep 'rule S1: ' "$STAGE/control") <(grep 'rule S1: ' "$STAGE/again")
}

minutes=1
[ -z "${LONG_TESTS:-}" ] || minutes=10
check "the checker finds each broken rule" python3 -B "$CHAOS/checker_test.py"
check "control: a wrapper without a lock is found" control_is_found
check "control: it is found again in its history" control_is_found_again
check "$minutes min of runs under faults" bash "$ROOT/scripts/chaos.sh" "$minutes"
finish
