#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test [all]: builds release, dev and asan, then runs every test there is. Goes on after a failure, so that one run shows
# all of them; the last line is `N passed, N failed`, and the exit code is 1 when anything failed or nothing ran. `all` exports
# LONG_TESTS=1 (no name of the program's own: it refuses variables that it does not know): tests that have a long form take it,
# and those that are long as a whole run.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# What is exported in a developer's shell must not change a test.
unset "${!CRONLATCH_@}" "${!REDISCLI_@}" LONG_TESTS
export TESTED_BINARY=$BINARY
case ${1:-} in
  '') ;;
  all) export LONG_TESTS=1 ;;
  *)
    echo "./dev test: unknown argument '$1'; there is only 'all'" >&2
    exit 64
    ;;
esac

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

log_of() { echo "$RESULTS/${1//[^a-z]/-}.log"; }

# say_checks SCRIPT LOG: a script that says one line per check (ok, FAIL or skip); what it says comes in one piece.
say_checks() {
  local said status=0
  said=$(mktemp)
  bash "$1" >"$said" 2>&1 || status=$?
  # A script that breaks off has not said all it should have said.
  if [ "$status" -ne 0 ] && ! grep -q '^FAIL ' "$said"; then echo "FAIL  $1 ended with $status" >>"$said"; fi
  flock "$2" tee -a "$2" <"$said"
  rm -f "$said"
}
export -f say_checks

account_checks() {  # account_checks NAME START: what they said
  local log
  log=$(log_of "$1")
  mapfile -t -O ${#FAILURES[@]} FAILURES < <(grep '^FAIL ' "$log")
  account "$1" "$2" "$(grep -c '^ok ' "$log")" "$(grep -c '^FAIL ' "$log")" "$(grep -c '^skip ' "$log")"
}

# script_stage NAME SCRIPT...: as many at once as there are processors.
script_stage() {
  local name=$1 start=$SECONDS log
  shift
  say "$name"
  log=$(log_of "$name")
  : >"$log"
  # shellcheck disable=SC2016  # for that shell
  printf '%s\0' "$@" | LOG=$log xargs -0 -P "$JOBS" -I '{}' bash -c 'say_checks "{}" "$LOG"'
  account_checks "$name" "$start"
}

# The scenarios on a real cluster wait more than they compute: they run beside the other stages, and are told afterwards.
# While they run side by side they need most of the machine, and leave the rest to stages that no clock judges; once they
# run one by one, the others get their share.
CLUSTER_STAGE="scenarios on a real cluster"
CLUSTER_PID=''

# start_cluster_stage: where a cluster cannot be had, each scenario counts as skipped, loudly.
start_cluster_stage() {
  local why='' scenarios
  if [ "$(id -u)" -ne 0 ]; then
    why="not root: network namespaces and cgroups cannot be made"
  elif ! (require_packages "${CLUSTER_PACKAGES[@]}"); then
    why="packages are missing, see above"
  elif ! unshare --net true 2>/dev/null; then
    why="this machine gives no network namespaces"
  elif ! bash scripts/cluster_tools.sh; then
    why="Kubernetes' tools cannot be built, see above"
  fi
  if [ -n "$why" ]; then
    scenarios=$(find tests/cluster/scenarios -name '*.sh' | wc -l)
    say "$CLUSTER_STAGE: ALL SKIPPED"
    echo "skip  cluster: $scenarios scenarios ($why)"
    account "$CLUSTER_STAGE" $SECONDS 0 0 "$scenarios"
    return
  fi
  say "$CLUSTER_STAGE: beside the following; what they said comes at their end"
  CLUSTER_START=$SECONDS
  # A group of its own, so that who stops us stops all of it.
  set -m
  bash tests/cluster/run.sh >"$(log_of "$CLUSTER_STAGE")" 2>&1 &
  CLUSTER_PID=$!
  set +m
  renice -n 10 $$ >/dev/null
  trap 'kill -- "-$CLUSTER_PID" 2>/dev/null; echo "./dev test: stopped; ./dev cluster down --all takes down what it left" >&2; exit 130' INT TERM HUP
}

await_few_scenarios() {
  local log
  [ -n "$CLUSTER_PID" ] || return
  log=$(log_of "$CLUSTER_STAGE")
  say "waiting until the scenarios run one by one (what they say: ${log#"$ROOT/"})"
  while [ -d "/proc/$CLUSTER_PID" ] && ! grep -q 'the rest one by one$' "$log"; do sleep 1; done
  renice -n 0 $$ >/dev/null
}

finish_cluster_stage() {
  local log status=0
  [ -n "$CLUSTER_PID" ] || return
  log=$(log_of "$CLUSTER_STAGE")
  say "$CLUSTER_STAGE: what they said, and what the last ones say"
  tail -n +1 -f --pid="$CLUSTER_PID" "$log"
  wait "$CLUSTER_PID" || status=$?
  trap - INT TERM HUP
  if [ $status -ne 0 ] && ! grep -q '^FAIL ' "$log"; then echo "FAIL  tests/cluster/run.sh ended with $status" | tee -a "$log"; fi
  account_checks "$CLUSTER_STAGE" "$CLUSTER_START"
}

mkdir -p "$RESULTS"
for preset in release dev asan; do build_stage $preset; done
# Here and not in the tests that use it: a compiler beside them takes the time that they measure. Without it they are skipped.
bash scripts/baseline.sh binary >/dev/null || true
[ -z "${LONG_TESTS:-}" ] || bash scripts/baseline.sh image >/dev/null || true
start_cluster_stage

script_stage "fuzz corpora under the sanitizers" scripts/fuzz_replay.sh
script_stage "lint" scripts/lint_quick.sh
script_stage "rules, dashboards, a real Prometheus" tests/view/*_test.sh
script_stage "the chart" tests/chart/*_test.sh
await_few_scenarios
ctest_stage "unit, contract, scripts" dev --label-regex 'unit|server'
ctest_stage "model" dev --label-regex model
ctest_stage "process, on the released program" dev --label-regex process
ctest_stage "the operator's program, used and attacked" dev --label-regex operator
ctest_stage "address and undefined-behaviour sanitizers" asan --label-exclude 'model|process'
script_stage "the released program from outside" tests/binary/*_test.sh
finish_cluster_stage
finish
