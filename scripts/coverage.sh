#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev coverage: builds the preset coverage, runs its C++ tests, and prints which share of the lines of src they execute: one line
# per module, then the total. The tests of the process label run the program of this build, not the released one. Exit code 1: a
# test failed; the figures are printed all the same. A process that is killed or calls _exit writes no counters.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
unset "${!CRONLATCH_@}" "${!REDISCLI_@}" "${!GTEST_@}" "${!CTEST_@}" LONG_TESTS

TREE=$ROOT/build/coverage
build_preset coverage || exit
rm -rf -- "$TREE/profiles"
status=0
ctest --preset coverage --parallel "$JOBS" >&2 || status=1

# Every program that a test runs: what one of them executes is executed.
mapfile -t objects < <(find "$TREE" -type f -perm -u+x \( -name '*_tests' -o -name cronlatch -o -name kubectl-cronlatch -o -name '*operator' \) -printf '--object=%p\n')
llvm-profdata merge --sparse --output="$TREE/all.profdata" "$TREE"/profiles/*.profraw || exit
llvm-cov export --summary-only --instr-profile="$TREE/all.profdata" "${objects[@]}" >"$TREE/summary.json" || exit
python3 -B scripts/coverage_table.py "$ROOT/src" <"$TREE/summary.json" || exit
echo "To record the figures, copy this table to docs/benchmarks.md." >&2
exit $status
