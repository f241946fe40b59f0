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

# passes STATUS-OF-THE-STAGE: the summary says that the run passed.
passes() {
  echo "7 $1 stage" >"$folder/stages"
  python3 -B "$ROOT/scripts/test_summary.py" "$folder" >"$folder/summary"
}
fails() { ! passes "$1"; }

last_line_is() { [ "$(tail -n 1 "$folder/summary")" = "$1" ]; }

tests 'a/Good=true' 'a/Unstable.Case/0=test -e second' 'a/UnstableXCase/0=touch other'
report stage
check 'a failed test is selected for a second try' test "$(pattern stage)" = '^(a/Unstable\.Case/0)$'
check 'without a second try, a failed test makes the run fail' fails 8
check 'a failed test is counted' last_line_is '2 passed, 1 failed, 0 skipped'

rm -f "$folder/other"
touch "$folder/second"
report stage.second -R "$(pattern stage)"
check 'the second try repeats that test alone' test ! -e "$folder/other"
check 'a test that passes at the second try does not make the run fail' passes 8
check 'it is named' grep -qx 'stage: a/Unstable.Case/0' <(sed -n '/passed at the second try/,$p' "$folder/summary")
check 'it is counted as passed' last_line_is '3 passed, 0 failed, 0 skipped'

rm -f "$folder/second"
report stage.second -R "$(pattern stage)"
check 'a test that fails twice makes the run fail' fails 8

rm -f "$folder"/*.xml
tests one=false two=false three=false four=false five=false six=false
report stage
check 'six failures are not repeated' test -z "$(pattern stage)"

rm -f "$folder"/*.xml
tests one=true
report stage
check 'nothing is repeated when every test passed' test -z "$(pattern stage)"
check 'a run without failures passes' passes 0
check 'a stage that failed without a failed test makes the run fail' fails 1
