# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions of the demos: runs in the background, and checked steps. A demo fails when a result differs from its
# description. It waits for conditions, not for a fixed time. Sourced by scripts/demo*.sh.

# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

BINARY=${TESTED_BINARY:-$BINARY}
STAGE=$(mktemp -d)
HOLDERS=()

stop_holders() {
  local pid
  for pid in "${HOLDERS[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
}

describe() { printf '\n%s\n' "$*"; }
show() { printf '$ %s\n' "$*"; }
fail() {
  printf '\nthe demo failed: %s\n' "$*" >&2
  tail -n 20 "$STAGE"/*.log >&2 || true
  exit 1
}
must() {  # must WHAT COMMAND...
  local what=$1
  shift
  "$@" || fail "$what"
}
log_matches() { grep -Eq -- "$2" "$STAGE/$1.log"; }

# gate NAME OPTIONS...: `cronlatch run` in the background, with holder NAME. The command, ./report, prints its fencing
# token and ends when the file NAME.end exists.
gate() {
  local name=$1
  shift
  show "cronlatch run --lock reports/nightly --holder $name${*:+ $*} -- ./report &"
  (cd "$STAGE" && exec "$BINARY" run --lock reports/nightly --holder "$name" "$@" -- ./report) >"$STAGE/$name.log" 2>&1 &
  # shellcheck disable=SC2034  # for the demos
  GATE=$!
  HOLDERS+=("$GATE")
}
# skip NAME HOLDER: a run in the foreground, which is skipped because HOLDER has the lock.
skip() {
  local name=$1 holder=$2 code=0
  show "cronlatch run --lock reports/nightly --holder $name -- ./report; echo \"exit code \$?\""
  (cd "$STAGE" && exec "$BINARY" run --lock reports/nightly --holder "$name" -- ./report) >"$STAGE/$name.log" 2>&1 || code=$?
  cat "$STAGE/$name.log"
  echo "exit code $code"
  must "$name ran" eval "! runs $name"
  must "$name's exit code is not 0" [ "$code" = 0 ]
  must "the log of $name does not contain the skip and the holder" log_matches "$name" "skipped.* held by $holder since .*Z.* until .*Z"
}
runs() { [ -e "$STAGE/$1.fence" ]; }
fence() { cat "$STAGE/$1.fence"; }
ended() { ! kill -0 "$1" 2>/dev/null; }
# kill_run NAME PID: sends SIGKILL to cronlatch and to its command.
kill_run() {
  local command
  command=$(cat "$STAGE/$1.pid")
  show "kill -9 $2 $command"
  kill -9 "$2" "$command"
  { wait "$2" || true; } 2>/dev/null  # otherwise the shell prints a message about the killed job
}
count() { sed -n "s/^$1{[^}]*lock=\"reports\/nightly\"[^}]*} //p" "$STAGE/metrics.log"; }

cat >"$STAGE/report" <<'REPORT'
#!/bin/sh
me=$CRONLATCH_LOCK_HOLDER
echo "$$" >"$me.pid"
echo "report: written by $me, fencing token $CRONLATCH_FENCE"
echo "$CRONLATCH_FENCE" >"$me.new" && mv "$me.new" "$me.fence"
while [ ! -e "$me.end" ]; do sleep 0.05; done
REPORT
chmod +x "$STAGE/report"
