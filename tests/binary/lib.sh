# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of the released program: one line per check, `ok`, `FAIL` or `skip`; output follows a FAIL.
# Sourced by tests/binary/*_test.sh and others; tests/suites/run.sh reads the lines.

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

# check SENTENCE COMMAND...: passes when the command succeeds; otherwise prints its output.
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

# refuses SENTENCE COMMAND...: passes when the command fails. It shows that a check can fail.
refuses() {
  local sentence=$1
  shift
  if "$@" >/dev/null 2>&1; then fail "$sentence"; else ok "$sentence"; fi
}

finish() { exit "$FAILED"; }
