# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# How the tests of the released program speak: one line per check, `ok`, `FAIL` or `skip`, and what was seen under a FAIL.
# Sourced by tests/binary/*_test.sh; tests/suites/run.sh reads the lines.

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/common.sh
source "$ROOT/scripts/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
BINARY=${TESTED_BINARY:-$BINARY}
PLUGIN=${TESTED_PLUGIN:-$PLUGIN}
SUBJECT=$(basename -- "$0" _test.sh)
FAILED=0

ok() { printf 'ok    %s: %s\n' "$SUBJECT" "$1"; }
skip() { printf 'skip  %s: %s (%s)\n' "$SUBJECT" "$1" "$2"; }
fail() {
  printf 'FAIL  %s: %s\n' "$SUBJECT" "$1"
  FAILED=1
}

# check SENTENCE COMMAND...: the sentence holds when the command succeeds; otherwise its output is shown.
check() {
  local sentence=$1 seen
  shift
  if seen=$("$@" 2>&1); then
    ok "$sentence"
  else
    fail "$sentence"
    printf '%s\n' "$seen" | sed 's/^/      | /'
  fi
}

# refuses SENTENCE COMMAND...: the control of a checker; it must say no.
refuses() {
  local sentence=$1
  shift
  if "$@" >/dev/null 2>&1; then fail "$sentence"; else ok "$sentence"; fi
}

finish() { exit "$FAILED"; }
