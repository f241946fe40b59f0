#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test: builds release, dev and asan, then runs every test there is. Goes on after a failure, so that one run shows
# all of them; the last line is `N passed, N failed`, and the exit code is 1 when anything failed or nothing ran.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# What is exported in a developer's shell must not change a test.
unset "${!CRONLATCH_@}" "${!REDISCLI_@}"
export TESTED_BINARY=$BINARY

RESULTS=$ROOT/build/test-results
PASSED=0
FAILED=0
SKIPPED=0
SUMMARY=()
FAILURES=()  # by name, for the end of the output

# Adds what a stage counted: PASSED FAILED SKIPPED, since SECONDS were START.
account() {
  local name=$1 start=$2 passed=$3 failed=$4 skipped=$5
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
  SKIPPED=$((SKIPPED + skipped))
  SUMMARY+=("$(printf '%5ds  %-44s %5d passed  %3d failed  %3d skipped' $((SECONDS - start)) "$name" "$passed" \
    "$failed" "$skipped")")
}

finish() {
  say "time and result of each stage"
  printf '%s\n' "${SUMMARY[@]}"
  [ ${#FAILURES[@]} -eq 0 ] || {
    say "what failed"
    printf '%s\n' "${FAILURES[@]}"
  }
  local line="$PASSED passed, $FAILED failed"
  [ "$SKIPPED" -eq 0 ] || line="$line, $SKIPPED skipped"
  printf '\n%s\n' "$line"
  [ "$FAILED" -eq 0 ] && [ "$PASSED" -gt 0 ]
  exit
}

# A build is no test: it is accounted for when it fails, and nothing after it would mean anything.
build_stage() {
  local start=$SECONDS
  if ! build_preset "$1"; then
    FAILURES+=("build $1")
    account "build $1" "$start" 0 1 0
    finish
  fi
  account "build $1" "$start" 0 0 0
}

attribute() { sed -nE "s/^.*[[:space:]]$2=\"([0-9]+)\".*$/\1/p" "$1" | head -n 1; }

# ctest_stage NAME PRESET CTEST-OPTION...
ctest_stage() {
  local name=$1 preset=$2 start=$SECONDS report status=0 tests failed skipped
  shift 2
  say "$name"
  report=$RESULTS/${name//[^a-z]/-}.xml
  rm -f "build/$preset/Testing/Temporary/LastTestsFailed.log"  # written only when one fails
  ctest --test-dir "build/$preset" --parallel "$JOBS" --output-on-failure --output-junit "$report" "$@" || status=$?
  tests=$(attribute "$report" tests)
  # A test whose program is not there counts as skipped for ctest, and as failed for us.
  skipped=$(grep -cE '<skipped message="(SKIP_|Disabled)' "$report")
  failed=$(($(attribute "$report" failures) + $(grep -c '<skipped ' "$report") - skipped))
  # No test at all, or a failure that the report does not know of, is a failure too.
  if [ "${tests:-0}" -eq 0 ] || { [ $status -ne 0 ] && [ "${failed:-0}" -eq 0 ]; }; then
    FAILURES+=("$name: ctest ended with $status after ${tests:-no} tests")
    account "$name" "$start" 0 1 0
    return
  fi
  if [ "$failed" -gt 0 ]; then
    mapfile -t -O ${#FAILURES[@]} FAILURES < <(sed "s|^[0-9]*:|$preset: |" "build/$preset/Testing/Temporary/LastTestsFailed.log")
  fi
  account "$name" "$start" $((tests - failed - skipped)) "$failed" "$skipped"
}

# script_stage NAME SCRIPT...: scripts that say one line per check: ok, FAIL or skip.
script_stage() {
  local name=$1 start=$SECONDS script log failed status
  shift
  say "$name"
  log=$RESULTS/${name//[^a-z]/-}.log
  : >"$log"
  failed=0
  for script in "$@"; do
    status=0
    bash "$script" 2>&1 | tee -a "$log" || status=$?
    # A script that breaks off has not said all it should have said.
    if [ $status -ne 0 ] && ! grep -q '^FAIL ' "$log"; then
      echo "FAIL  $script ended with $status" | tee -a "$log"
    fi
  done
  mapfile -t -O ${#FAILURES[@]} FAILURES < <(grep '^FAIL ' "$log")
  failed=$(grep -c '^FAIL ' "$log")
  account "$name" "$start" "$(grep -c '^ok ' "$log")" "$failed" "$(grep -c '^skip ' "$log")"
}

# cluster_stage: the scenarios on a real cluster. Where that cannot be had, each of them counts as skipped, loudly.
cluster_stage() {
  local name="scenarios on a real cluster" start=$SECONDS why='' scenarios
  if [ "$(id -u)" -ne 0 ]; then
    why="not root: network namespaces and cgroups cannot be made"
  elif ! (require_packages "${CLUSTER_PACKAGES[@]}"); then
    why="packages are missing, see above"
  elif ! unshare --net true 2>/dev/null; then
    why="this machine gives no network namespaces"
  elif ! bash scripts/cluster_tools.sh; then
    why="Kubernetes' tools cannot be built, see above"
  fi
  if [ -z "$why" ]; then
    script_stage "$name" tests/cluster/run.sh
    return
  fi
  scenarios=$(find tests/cluster/scenarios -name '*.sh' | wc -l)
  say "$name: ALL SKIPPED"
  echo "skip  cluster: $scenarios scenarios ($why)"
  account "$name" "$start" 0 0 "$scenarios"
}

mkdir -p "$RESULTS"
for preset in release dev asan; do build_stage $preset; done

ctest_stage "unit, contract, scripts" dev --label-regex 'unit|server'
ctest_stage "model" dev --label-regex model
ctest_stage "process, on the released program" dev --label-regex process
ctest_stage "the operator's program, used and attacked" dev --label-regex operator
ctest_stage "address and undefined-behaviour sanitizers" asan --label-exclude 'model|process'
script_stage "the released program from outside" tests/binary/*_test.sh
script_stage "fuzz corpora under the sanitizers" scripts/fuzz_replay.sh
script_stage "lint" scripts/lint_quick.sh
script_stage "rules, dashboards, a real Prometheus" tests/view/*_test.sh
cluster_stage  # builds helm and the API server, which the next one uses
script_stage "the chart" tests/chart/*_test.sh
finish
