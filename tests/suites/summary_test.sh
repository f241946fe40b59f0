#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The summary of ./dev test and the second try of failed tests, with real reports of ctest.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/common.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

check() {  # check WHAT COMMAND...
  local what=$1
  shift
  if "$@"; then echo "ok    $what"; else echo "FAIL  $what"; fi
}

# tests NAME=COMMAND...: what ctest runs from now on.
tests() {
  local test
  for test in "$@"; do printf 'add_test("%s" sh "-c" "%s")\n' "${test%%=*}" "${test#*=}"; done >"$folder/CTestTestfile.cmake"
}

# report NAME [CTEST-OPTION...]: runs the tests and writes the report of a stage.
report() {
  local name=$1
  shift
  (cd "$folder" && ctest --output-junit "$folder/$name.xml" "$@") >"$folder/$name.log" 2>&1
}

pattern() { python3 -B "$ROOT/scripts/test_summary.py" --failed "$folder/$1.xml"; }

# summary STATUS-OF-THE-STAGE: prints the summary; its exit code.
summary() {
  echo "7 $1 stage" >"$folder/stages"
  python3 -B "$ROOT/scripts/test_summary.py" "$folder" >"$folder/summary"
}

last_line_is() { [ "$(tail -n 1 "$folder/summary")" = "$1" ]; }

tests 'a/Good=true' 'a/Unstable.Case/0=test -e second' 'a/UnstableXCase/0=touch other'
report stage
check 'a failed test is selected for a second try' test "$(pattern stage)" = '^(a/Unstable\.Case/0)$'
summary 8 && failed=no || failed=yes
check 'without a second try, a failed test makes the run fail' test $failed = yes
check 'a failed test is counted' last_line_is '2 passed, 1 failed, 0 skipped'

rm -f "$folder/other"
touch "$folder/second"
report stage.second -R "$(pattern stage)"
check 'the second try repeats that test alone' test ! -e "$folder/other"
summary 8 && failed=no || failed=yes
check 'a test that passes at the second try does not make the run fail' test $failed = no
check 'it is named' grep -qx 'stage: a/Unstable.Case/0' <(sed -n '/passed at the second try/,$p' "$folder/summary")
check 'it is counted as passed' last_line_is '3 passed, 0 failed, 0 skipped'

rm -f "$folder/second"
report stage.second -R "$(pattern stage)"
summary 8 && failed=no || failed=yes
check 'a test that fails twice makes the run fail' test $failed = yes

rm -f "$folder"/*.xml
tests one=false two=false three=false four=false five=false six=false
report stage
check 'six failures are not repeated' test -z "$(pattern stage)"

rm -f "$folder"/*.xml
tests one=true
report stage
check 'nothing is repeated when every test passed' test -z "$(pattern stage)"
summary 0 && failed=no || failed=yes
check 'a run without failures passes' test $failed = no
summary 1 && failed=no || failed=yes
check 'a stage that failed without a failed test makes the run fail' test $failed = yes
