#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo migrate: a fleet of three hosts with cronlock is moved to cronlatch host by host, and the job never overlaps.
# Hosts are directories, cronlock is the double in tests/doubles, which sends the requests of cronlock. Every step is
# checked: the demo fails when a result differs from its description. It waits for conditions, not for a fixed time.
set -euo pipefail
# shellcheck source=scripts/demo_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/demo_common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"

cleanup() {
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

# The job reports an overlap: only one of two runs at the same time can create the directory.
cat >"$STAGE/report" <<'JOB'
#!/bin/sh
cd "$STAGE" || exit 1
mkdir running || { echo "OVERLAP on $HOST" >>report.log; exit 3; }
echo "report: written on $HOST" | tee -a report.log
until [ ! -e hold ]; do sleep 0.05; done
rmdir running
JOB
chmod +x "$STAGE/report"
touch "$STAGE/report.log"

start_redis "$STAGE/redis"
export STAGE CRONLOCK_HOST=127.0.0.1 CRONLOCK_PORT=$REDIS_PORT CRONLOCK_KEY=report CRONLOCK_GRACE=0 CRONLOCK_CONFIG=/dev/null
key() { redis-cli -p "$REDIS_PORT" GET cronlock.report; }
key_is_gone() { [ -z "$(key)" ]; }
install_cronlock() { rm -f "$STAGE/$1/cronlock" && cp -- "$ROOT/tests/doubles/cronlock" "$STAGE/$1/cronlock"; }
install_cronlatch() { ln -sf "$BINARY" "$STAGE/$1/cronlock"; }
line() { HOST=$1 "$STAGE/$1/cronlock" "$STAGE/report"; }  # line HOST: the crontab line of that host

# tick: all hosts start their line at the same time. One of them runs the job, and the others exit with 200.
tick() {
  local host code=0 ran=0 pids=() before
  before=$(wc -l <"$STAGE/report.log")
  touch "$STAGE/hold"
  for host in host1 host2 host3; do
    line "$host" &
    pids+=($!)
  done
  wait_until 30 [ -d "$STAGE/running" ] || fail "no host ran the job"
  # The lines that did not get the key end while the job runs.
  wait_until 30 others_ended "${pids[@]}" || fail "a line did not end"
  rm "$STAGE/hold"
  for pid in "${pids[@]}"; do
    code=0
    wait "$pid" || code=$?
    case $code in
      0) ran=$((ran + 1)) ;;
      200) ;;
      *) fail "a line has the exit code $code" ;;
    esac
  done
  [ "$ran" = 1 ] || fail "$ran lines ran the job"
  [ "$(wc -l <"$STAGE/report.log")" = $((before + 1)) ] || fail "the job ran more than once"
  echo "exit codes: 0 once, 200 twice"
  # cronlock keeps its key for one second with a grace time of 0.
  wait_until 30 key_is_gone || fail "the key stays"
}
others_ended() {
  local pid alive=0
  for pid; do ! kill -0 "$pid" 2>/dev/null || alive=$((alive + 1)); done
  [ "$alive" -le 1 ]
}

mkdir "$STAGE"/host{1,2,3}
for host in host1 host2 host3; do install_cronlock "$host"; done
describe "1. Three hosts have cronlock. Each has the same line, which starts at the same time:"
show "CRONLOCK_HOST=127.0.0.1 CRONLOCK_PORT=$REDIS_PORT CRONLOCK_KEY=report cronlock ./report"
tick

number=2
for host in host1 host2 host3; do
  describe "$number. $host gets cronlatch in the place of cronlock. The line does not change:"
  show "ln -sf /usr/local/bin/cronlatch /usr/local/bin/cronlock   # on $host"
  install_cronlatch "$host"
  tick
  number=$((number + 1))
done

describe "5. The key during a run of cronlatch has the value of cronlock, and expires with the lease:"
touch "$STAGE/hold"
line host1 &
holder=$!
wait_until 30 [ -d "$STAGE/running" ] || fail "host1 did not run the job"
show "redis-cli GET cronlock.report; redis-cli TTL cronlock.report"
key
ttl=$(redis-cli -p "$REDIS_PORT" TTL cronlock.report)
echo "$ttl"
if [ "$ttl" -lt 1 ] || [ "$ttl" -gt 120 ]; then fail "the key does not expire with the lease"; fi
show "cronlatch show _cronlock/cronlock.report"
"$BINARY" show --store "redis://127.0.0.1:$REDIS_PORT" _cronlock/cronlock.report | head -n 6

describe "6. host2 goes back to cronlock while that run is in progress. cronlock is excluded:"
install_cronlock host2
code=0
line host2 || code=$?
echo "exit code $code"
[ "$code" = 200 ] || fail "cronlock has the exit code $code"
rm "$STAGE/hold"
wait "$holder" || fail "the run on host1 failed"
wait_until 30 key_is_gone || fail "the key stays"
tick

describe "7. The command line of cronlatch for the same key, to continue without the name cronlock:"
install_cronlatch host2
show "cronlock --explain ./report"
(cd "$STAGE" && HOST=host2 ./host2/cronlock --explain ./report)

! grep OVERLAP "$STAGE/report.log" || fail "two runs overlapped"
describe "Result: the job ran $(wc -l <"$STAGE/report.log") times and never twice at the same time. Redis is stopped and its files are removed."
