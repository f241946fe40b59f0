#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cronlatch and doubles of cronlock, golock and redlock libraries share keys: random interleavings without an overlap, and a
# fleet that is moved host by host. With LONG_TESTS=1, 1,000 interleavings.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

DOUBLES=$ROOT/tests/doubles
work=$(mktemp -d)
end_all() {
  # shellcheck disable=SC2046
  kill $(jobs -p) 2>/dev/null
  stop_all_redis
  rm -rf -- "$work"
}
trap end_all EXIT
start_redis "$work/redis" || exit 1
trials=200
[ -z "${LONG_TESTS:-}" ] || trials=1000
seed=${CRONLATCH_SEED:-$RANDOM}

mkdir "$work/trials" "$work/control"
check "$trials interleavings with seed $seed run" \
  python3 "$ROOT/tests/binary/interleave.py" run "$work/trials" "$REDIS_PORT" "$BINARY" "$DOUBLES" "$trials" "$seed"
check "no two commands with the same key overlap, and each program runs" python3 "$ROOT/tests/binary/interleave.py" judge "$work/trials"
cp "$work/trials"/*.log "$work/control/"
printf 'S native 1\nS cronlock 2\nE native 1\nE cronlock 2\n' >"$work/control/0.log"
refuses "control: the judge finds an overlap" python3 "$ROOT/tests/binary/interleave.py" judge "$work/control"

# ---- a fleet of three hosts that is moved host by host ----
# cronlock's GETSET can leave a key without an expiry: it loses the race for a key that expired after its SETNX.
redis-cli -p "$REDIS_PORT" FLUSHALL >/dev/null
export CRONLOCK_HOST=127.0.0.1 CRONLOCK_PORT=$REDIS_PORT CRONLOCK_GRACE=0 CRONLOCK_CONFIG=/dev/null
mkdir "$work/old" "$work/new"
cp -- "$DOUBLES/cronlock" "$work/old/cronlock"
ln -s "$BINARY" "$work/new/cronlock"
cat >"$work/job" <<'JOB'
#!/bin/sh
# The directory exists while a run of this job is in progress.
mkdir "$0.running" || { echo overlap >>"$0.log"; exit 3; }
echo ran >>"$0.log"
sleep 0.3
rmdir "$0.running"
JOB
chmod +x "$work/job"
for host in 1 2 3; do ln -s old "$work/host$host"; done
skipped() { [ "$1" = 200 ] || [ "$1" = 0 ]; }
# tick: each host starts its line at the same time; one of them runs the job.
tick() {
  local host pids=() before after code
  before=$(grep -c "" "$work/job.log" 2>/dev/null)
  for host in 1 2 3; do
    "$work/host$host/cronlock" "$work/job" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    code=0
    wait "$pid" || code=$?
    skipped "$code" || { echo "exit code $code" && return 1; }
  done
  after=$(grep -c "" "$work/job.log" 2>/dev/null)
  [ "$((after - before))" = 1 ] || { echo "the job ran $((after - before)) times" && return 1; }
  wait_until 10 key_is_gone
}
key_is_gone() { [ "$(redis-cli -p "$REDIS_PORT" DBSIZE)" = 0 ] || [ -z "$(redis-cli -p "$REDIS_PORT" --scan --pattern 'cronlock.*')" ]; }
move() { ln -sfn "$1" "$work/host$2"; }
check "fleet: cronlock on three hosts runs the job once" tick
for host in 1 2 3; do
  move new "$host"
  check "fleet: the job runs once after host $host of 3 is changed" tick
done
move old 2
check "fleet: the job runs once after host 2 is changed back" tick
refuses "fleet: no two runs of the job overlapped" grep -q overlap "$work/job.log"
finish
