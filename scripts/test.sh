#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test [all]: builds release, dev and asan, then runs every test with ctest (presets: CMakePresets.json). It goes on after a
# failure; a few tests that failed are repeated, one at a time (docs/decisions/0032). The last line is `N passed, N failed, N skipped`; the exit code is 1 when a test failed or none passed. `all` sets
# LONG_TESTS=1: tests that have a long form run it, and the tests that are long as a whole run, among them the presets versions (other
# servers), tsan, asan-process (the process tests on a wrapper with sanitizers), dev-arm64 and process-arm64 (the wrapper for arm64), and the scenarios on
# other versions of Kubernetes; IMAGE_FROM=Dockerfile: the scenarios use the image that ships. The
# variables do not begin with CRONLATCH_, because the program refuses unknown variables of that prefix.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# A variable that is exported in a developer's shell must not change a test.
unset "${!CRONLATCH_@}" "${!REDISCLI_@}" "${!GTEST_@}" "${!CTEST_@}" LONG_TESTS IMAGE_FROM
long=(--label-exclude '^long$')
case ${1:-} in
  '') ;;
  all)
    export LONG_TESTS=1 IMAGE_FROM=Dockerfile
    long=()
    ;;
  *)
    echo "./dev test: unknown argument '$1'; there is only 'all'" >&2
    exit 64
    ;;
esac

RESULTS=$ROOT/build/test-results
STAGES=$RESULTS/stages  # scripts/test_summary.py reads it: seconds, exit code, name of each stage
ALONE=''                # the process group of the preset `alone`
AT_ONCE=$((4 * JOBS))   # most tests wait more than they compute
CTEST=(ctest)

finish() {
  python3 -B scripts/test_summary.py "$RESULTS"
  exit
}

# Nothing after a build that failed would mean anything.
build_stage() {
  local start=$SECONDS status=0
  build_preset "$1" || status=$?
  echo "$((SECONDS - start)) $status build $1" >>"$STAGES"
  [ $status -eq 0 ] || finish
}

# ctest_stage PRESET CTEST-OPTION...
ctest_stage() {
  local preset=$1 start=$SECONDS status=0
  shift
  say "ctest --preset $preset"
  "${CTEST[@]}" --preset "$preset" "$@" || status=$?
  echo "$((SECONDS - start)) $status $preset" >>"$STAGES"
}

# second_try PRESET: repeats the failed tests of a stage when nothing else runs.
second_try() {
  local pattern
  pattern=$(python3 -B scripts/test_summary.py --failed "$RESULTS/$1.xml") || return 0
  say "ctest --preset $1: second try of the tests that failed"
  "${CTEST[@]}" --preset "$1" --parallel 1 --output-junit "$RESULTS/$1.second.xml" -R "$pattern" || true
}

stopped() {
  [ -z "$ALONE" ] || kill -- "-$ALONE" 2>/dev/null
  echo "./dev test: stopped; ./dev cluster down --all removes what is left of a cluster" >&2
  exit 130
}
trap stopped INT TERM HUP

mkdir -p "$RESULTS"
rm -f "$RESULTS"/*.xml "$STAGES"
# Its tests need a host that starts programs for arm64. On another host, the suites of the preset arm64 print the reason.
TESTS_ARM64=''
if [ -n "${LONG_TESTS:-}" ] && bash scripts/with_arm64.sh true 2>/dev/null; then TESTS_ARM64=dev-arm64; fi
for preset in release dev asan ${LONG_TESTS:+tsan release-arm64 operator-arm64} $TESTS_ARM64; do build_stage "$preset"; done
for preset in suites alone; do cmake --preset "$preset" >&2 || exit; done  # always: no build notices a new suite
# Version 0.1.0 is built here and not in the tests that use it: a compiler beside them takes the time that they measure. The tests
# are skipped when it cannot be built.
bash scripts/baseline.sh binary >/dev/null || true
[ -z "${LONG_TESTS:-}" ] || bash scripts/baseline.sh image >/dev/null || true

# The scenarios on a real cluster wait more than they compute. Several at once they need most of the machine: they run beside suites that
# measure no time. One by one, on a cluster of their own, they leave the machine to the timed tests of dev and asan (docs/decisions/0027).
set -m  # a process group of its own, to stop all of it
ctest_stage alone "${long[@]}" >"$RESULTS/alone.log" 2>&1 &
ALONE=$!
set +m
ctest_stage side-by-side
second_try side-by-side
[ -z "${LONG_TESTS:-}" ] || { ctest_stage side-by-side-long && second_try side-by-side-long; }
ctest_stage dev --parallel "$AT_ONCE"
ctest_stage asan --parallel "$AT_ONCE"
if [ -n "${LONG_TESTS:-}" ]; then
  # In the short form: with a sanitizer, 30,000 processes need more memory than a machine has, and a simulation more time.
  # (A preset cannot unset a variable.)
  (
    unset LONG_TESTS
    ctest_stage versions --parallel "$JOBS"
    ctest_stage tsan --parallel "$JOBS"
    ctest_stage asan-process --parallel "$JOBS"
    second_try asan-process
    if [ -n "$TESTS_ARM64" ]; then
      ctest_stage dev-arm64 --parallel "$JOBS"
      second_try dev-arm64
      CTEST=(bash scripts/with_arm64.sh ctest)  # the tests are for this host, the program is for arm64
      ctest_stage process-arm64 --parallel "$JOBS"
      second_try process-arm64
    fi
  )
fi
say "waiting for the last scenarios (build/test-results/alone.log)"
wait "$ALONE"
ALONE=''
cat "$RESULTS/alone.log"
if [ -n "${LONG_TESTS:-}" ]; then
  for preset in arm64 release kubernetes-1.30 kubernetes-1.36; do ctest_stage "$preset"; done
fi
for preset in alone dev asan versions tsan arm64; do second_try "$preset"; done
finish
