#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Version 0.1.0 and this version share a Redis during an upgrade. Each excludes the other, acquires the lock after a crash
# of the other, reads its done marks, and counts in the same statistics.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

NEW=$BINARY
STAGE=$(mktemp -d)
if ! OLD=$(bash "$ROOT/scripts/baseline.sh" binary 2>"$STAGE/baseline"); then
  skip "all checks" "$(tail -n 1 "$STAGE/baseline")"
  rm -rf -- "$STAGE"
  exit 0
fi
end_all() {
  local file
  for file in "$STAGE"/*.pid; do
    [ ! -s "$file" ] || [ -e "${file%.pid}.code" ] || kill -9 -- "-$(cat "$file")" 2>/dev/null
  done
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap end_all EXIT
start_redis "$STAGE/redis" --appendonly yes --appendfsync always --maxmemory-policy noeviction || exit 1
export CRONLATCH_STORE=redis://127.0.0.1:$REDIS_PORT

# holder PROGRAM LOCK [OPTION...]: a run that holds the lock until $STAGE/LOCK.end exists, in a separate process group. Its
# process id is in LOCK.pid, and later its exit code in LOCK.code. With AS, these files have that name.
holder() {
  local program=$1 lock=$2 name=${AS:-$2}
  shift 2
  rm -f "$STAGE/$name".{began,end,code}
  (
    # shellcheck disable=SC2016  # the inner shell expands it
    setsid sh -c 'echo $$ >"$0.pid" && exec "$@"' "$STAGE/$name" "$program" run --lock "$lock" --job fleet/a --ttl 5s \
      --outcome-file "$STAGE/$name.holder" "$@" -- \
      sh -c "touch '$STAGE/$name.began'; until [ -e '$STAGE/$name.end' ]; do sleep 0.05; done"
    echo $? >"$STAGE/$name.code"
  ) >"$STAGE/$name.log" 2>&1 &
  wait_until 30 [ -e "$STAGE/$name.began" ] || { cat "$STAGE/$name.log" && return 1; }
}
ends_with() {  # ends_with CODE LOCK
  if wait_until 30 [ -s "$STAGE/$2.code" ] && is "$1" cat "$STAGE/$2.code"; then return; fi
  cat "$STAGE/$2.log"
  return 1
}
end_holder() { touch "$STAGE/$1.end" && ends_with 0 "$1"; }
crash() { kill -9 -- "-$(cat "$STAGE/$1.pid")" && wait_until 30 [ -s "$STAGE/$1.code" ]; }
# other PROGRAM LOCK [OPTION...] -- COMMAND...: its outcome is in $STAGE/LOCK.other.
other() {
  local program=$1 lock=$2
  shift 2
  timeout 60 "$program" run --lock "$lock" --job fleet/b --ttl 5s --outcome-file "$STAGE/$lock.other" "$@" 2>>"$STAGE/$lock.log"
}
outcome_is() {  # outcome_is FILE KEY VALUE
  [ "$(jq -r ".$2" "$STAGE/$1")" = "$3" ] || { cat "$STAGE/$1" && return 1; }
}
of_lock() { "$1" show "$2" -o json | jq -r ".$3"; }  # of_lock PROGRAM LOCK KEY
is() {  # is VALUE COMMAND...
  local wanted=$1 seen
  shift
  seen=$("$@") || return 1
  [ "$seen" = "$wanted" ] || { echo "$seen, not $wanted: $*" && return 1; }
}

skips() {  # skips PROGRAM LOCK: while another run holds it
  rm -f "$STAGE/$2.ran"
  other "$1" "$2" -- touch "$STAGE/$2.ran" && [ ! -e "$STAGE/$2.ran" ] && outcome_is "$2.other" outcome skipped
}
listed() {  # listed PROGRAM LOCK: as held by the run of the other version
  "$1" ls -o json | jq -e ".[] | select(.lock == \"$2\") | .state == \"held\" and (.holder | contains(\":$(cat "$STAGE/$2.pid"):\"))" && return
  "$1" ls
  return 1
}
renewed() {  # renewed PROGRAM LOCK SINCE: the lease ends later than it did
  [[ $(of_lock "$1" "$2" expires) > $3 ]]
}
takes_over() {  # takes_over PROGRAM LOCK: acquires the lock of a killed run
  other "$1" "$2" --on-busy wait --wait-timeout 40s -- touch "$STAGE/$2.ran" && [ -e "$STAGE/$2.ran" ] &&
    is 1 of_lock "$1" "$2" counters.stolen
}
fence_rises() { [ "$(jq -r .fence "$STAGE/$2.other")" -gt "$1" ]; }
revokes() {  # revokes PROGRAM LOCK: the holder, a run of the other version, stops
  timeout 60 "$1" release "$2" --force && ends_with 79 "$2" && outcome_is "$2.holder" reason revoked
}
# In the output of both versions: acquired = released + stolen + revoked + open.
counters_balance() {
  local program totals=()
  for program in "$OLD" "$NEW"; do
    totals+=("$("$program" show "$1" -o json | jq -c '.counters as $c | [$c.acquired, $c.released, $c.stolen, $c.revoked, (.state == "held")]')")
  done
  printf '%s\n' "${totals[@]}"
  [ "${totals[0]}" = "${totals[1]}" ] && jq -e '.[0] > 0 and .[0] == .[1] + .[2] + .[3] + (if .[4] then 1 else 0 end)' <<<"${totals[0]}"
}

# both TITLE FIRST SECOND: FIRST holds the lock, and SECOND requests it.
both() {
  local title=$1 first=$2 second=$3 lock=$4 expires fence
  check "$title: the first version acquires the lock" holder "$first" "$lock"
  check "$title: the second version is skipped" skips "$second" "$lock"
  check "$title: the second version lists the holder" listed "$second" "$lock"
  expires=$(of_lock "$second" "$lock" expires)
  check "$title: the second version reads a renewed lease" wait_until 30 renewed "$second" "$lock" "$expires"
  check "$title: both versions count the lease as open" counters_balance "$lock"
  fence=$(of_lock "$second" "$lock" fence)
  check "$title: the first version and its command are killed" crash "$lock"
  check "$title: the second version acquires the lock after the crash" takes_over "$second" "$lock"
  check "$title: its fence is higher" fence_rises "$fence" "$lock"

  check "$title: the first version acquires the lock again" holder "$first" "$lock"
  check "$title: the second version revokes the lease, and the first version stops" revokes "$second" "$lock"
  check "$title: the first version acquires the lock with min-hold and once-per" holder "$first" "$lock" --min-hold 8s --once-per tick
  check "$title: the first version ends with 0" end_holder "$lock"
  check "$title: the second version is skipped during min-hold" skips "$second" "$lock"
  check "$title: the second version acquires the lock after min-hold" other "$second" "$lock" --on-busy wait --wait-timeout 30s -- true
  check "$title: the second version does not repeat the run of the first version" done_already "$second" "$lock"
  check "$title: the statistics of both versions are the same, and add up" counters_balance "$lock"
}
done_already() {  # done_already PROGRAM LOCK: the identity of the other version's job
  timeout 60 "$1" run --lock "$2" --job fleet/a --ttl 5s --once-per tick --outcome-file "$STAGE/$2.other" -- touch "$STAGE/$2.again" &&
    [ ! -e "$STAGE/$2.again" ] && outcome_is "$2.other" reason "done"
}
both "0.1.0, then this version" "$OLD" "$NEW" old-new
both "this version, then 0.1.0" "$NEW" "$OLD" new-old

# ---- parallel runs: a counter that one run at a time may change ----
echo 0 >"$STAGE/counter"
# shellcheck disable=SC2016  # the inner shell expands it
INCREMENT='mkdir "$0/inside" || exit 9; n=$(cat "$0/counter"); echo $((n + 1)) >"$0/counter"; rmdir "$0/inside"'
increments() {  # increments PROGRAM: five runs, each waits for the lock
  local i
  for i in 1 2 3 4 5; do
    timeout 120 "$1" run --lock crowd --job "fleet/$i" --on-busy wait --wait-timeout 100s -- sh -c "$INCREMENT" "$STAGE" 2>>"$STAGE/crowd.log" ||
      { echo "exit code $?" && return 1; }
  done
}
crowd() {
  local pid status=0 pids=()
  for program in "$OLD" "$NEW" "$OLD" "$NEW"; do
    increments "$program" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  [ "$status" -eq 0 ] || cat "$STAGE/crowd.log"
  return "$status"
}
check "four parallel callers of both versions exclude each other" crowd
check "no increment is lost" [ "$(cat "$STAGE/counter")" = 20 ]
check "each grant is counted once" is 20 of_lock "$NEW" crowd counters.acquired
check "the statistics add up" counters_balance crowd
same_metrics() { diff <("$OLD" metrics | grep -E '^cronlatch_lock_(acquired|released|stolen|revoked|skipped)_total' | sort) \
  <("$NEW" metrics | grep -E '^cronlatch_lock_(acquired|released|stolen|revoked|skipped)_total' | sort); }
check "both versions export the same counters" same_metrics

# ---- slots, which 0.1.0 does not have, in a file store ----
export CRONLATCH_STORE=file://$STAGE/locks
refused_with_78() {  # refused_with_78 PROGRAM LOCK [OPTION...]: the command is not started
  local program=$1 lock=$2 code=0
  shift 2
  timeout 60 "$program" run --lock "$lock" "$@" -- touch "$STAGE/started" 2>"$STAGE/refusal" || code=$?
  cat "$STAGE/refusal"
  [ "$code" = 78 ] && [ ! -e "$STAGE/started" ]
}
crashes_with_slots() { holder "$NEW" several --slots 2 && crash several; }
counts_the_crash() { is 1 of_lock "$OLD" several counters.stolen && counters_balance several; }
check "slots: 0.1.0 acquires the lock" holder "$OLD" several
check "slots: this version with two slots is refused" refused_with_78 "$NEW" several --slots 2 --on-busy wait
check "slots: 0.1.0 ends with 0" end_holder several
check "slots: this version acquires slot 1" holder "$NEW" several --slots 2
check "slots: 0.1.0 is refused" refused_with_78 "$OLD" several --on-busy wait
AS=second check "slots: this version acquires slot 2" holder "$NEW" several --slots 2
check "slots: the run with slot 1 ends with 0" end_holder several
check "slots: 0.1.0 is refused, although the lock of slot 1 is free" refused_with_78 "$OLD" several
check "slots: the run with slot 2 ends with 0" end_holder second
check "slots: 0.1.0 acquires the lock after the last release" other "$OLD" several -- true
check "slots: both versions count all grants" counters_balance several
check "slots: this version is killed while it holds slot 1" crashes_with_slots
check "slots: 0.1.0 is refused until a run of this version" refused_with_78 "$OLD" several
check "slots: this version with one slot acquires the lock" wait_until 30 other "$NEW" several -- true
check "slots: 0.1.0 acquires the lock" other "$OLD" several -- true
check "slots: both versions count the killed run as stolen" counts_the_crash
finish
