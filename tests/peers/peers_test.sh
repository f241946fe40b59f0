#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The released binary with `key-format: redlock`, and real libraries that lock the same key: redlock (npm), redsync (Go) and
# the Lock of redis-py (PyPI), in fixed versions from their registries (scripts/peers.sh). Each excludes the other. redlock
# and redsync also lock a quorum. Label long: the registries are needed once.
set -uo pipefail
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../binary/lib.sh"
# shellcheck source=scripts/peers.sh
source "$ROOT/scripts/peers.sh"

LOCKED=9 REFUSED=8  # exit codes of the agents: the lock is not free; an extension is refused
EACH=8              # runs of each program, before contenders end
export LOCK_TTL_MS=60000  # of the other program
work=$(mktemp -d)
end_all() {
  touch "$work/over"
  end_holders
  [ ${#CONTENDERS[@]} = 0 ] || wait "${CONTENDERS[@]}"
  stop_all_redis
  rm -rf -- "$work"
}
end_holders() {
  local each
  for each in "$work"/*.began; do touch "${each%.began}.go"; done
}
CONTENDERS=()
trap end_all EXIT

PORTS=()
for i in 1 2 3; do
  start_redis "$work/redis$i" || exit 1
  PORTS+=("$REDIS_PORT")
done
QUORUM=$(printf ',redis://127.0.0.1:%s' "${PORTS[@]}") QUORUM=${QUORUM#,}
quorum_is_up() {  # for max-ttl: a server grants a lock without a record after that time
  local port
  for port in "${PORTS[@]}"; do [ "$(redis-cli -p "$port" INFO server | sed -n 's/^uptime_in_seconds:\([0-9]*\).*/\1/p')" -ge 5 ] || return 1; done
}

# ---- programs: PEER, KEY, STORE and SERVERS are set by the caller ----
# shellcheck disable=SC2153  # not PEERS
peer() { "${PEER[@]}" "$SERVERS" "$KEY" "$@"; }  # peer MODE COMMAND...
ours() {  # ours [OPTION...] -- COMMAND...
  "$BINARY" run --isolated --store "$STORE" --key-format redlock --foreign-key "$KEY" --ttl 5s --max-ttl 5s --kill-after 200ms "$@"
}
code() {  # code WANTED COMMAND...
  local wanted=$1 seen=0
  shift
  "$@" || seen=$?
  [ "$seen" = "$wanted" ] || { echo "exit code $seen, not $wanted: $*" && return 1; }
}
# hold NAME COMMAND...: COMMAND holds the lock until $work/NAME.go exists. Its exit code is then in NAME.code.
hold() {
  local name=$1
  shift
  rm -f "$work/$name".{began,go,code}
  {
    # shellcheck disable=SC2016  # the inner shell expands it
    "$@" sh -c 'echo $PPID >"$0.began"; until [ -e "$0.go" ]; do sleep 0.05; done' "$work/$name"
    echo $? >"$work/$name.code"
  } >"$work/$name.log" 2>&1 &
  wait_until 60 [ -e "$work/$name.began" ] || { cat "$work/$name.log" && return 1; }
}
ends() {  # ends NAME CODE
  touch "$work/$1.go"
  wait_until 30 [ -s "$work/$1.code" ] && [ "$(cat "$work/$1.code")" = "$2" ] && return
  cat "$work/$1.code" "$work/$1.log"
  return 1
}
did_not_run() { [ ! -e "$work/ran" ]; }
is_excluded() {  # each way of a busy lock, by its documented exit code
  rm -f "$work/ran"
  code 0 ours --on-busy skip -- touch "$work/ran" && code 75 ours --on-busy fail -- touch "$work/ran" &&
    code 75 ours --on-busy wait --wait-timeout 1s -- touch "$work/ran" && did_not_run
}
names_the_holder() {
  ours --on-busy skip -- true 2>"$work/skipped" && cat "$work/skipped" && grep -qF 'another program (redlock key)' "$work/skipped"
}
peer_is_excluded() {
  rm -f "$work/ran"
  code "$LOCKED" peer try touch "$work/ran" && did_not_run
}
both_acquire() { code 0 peer try true && code 0 ours --on-busy fail -- true && code 0 peer try true; }
# The peer's command outlives its lease.
acquires_after_the_lease() {
  LOCK_TTL_MS=2000 hold late peer extend && code 75 ours --on-busy fail -- true && hold next ours --on-busy wait --wait-timeout 30s --
}
crashes() {  # a run of cronlatch: its command ends with it, and its lease later
  hold crash ours -- && kill -9 "$(cat "$work/crash.began")" && wait_until 30 [ -s "$work/crash.code" ]
}

# ---- contenders of both kinds, for one counter ----
# shellcheck disable=SC2016  # the inner shell expands it
INCREMENT='mkdir "$0/inside" || { echo overlap >>"$0/log"; exit 3; }
n=$(cat "$0/counter"); sleep 0.02; echo $((n + 1)) >"$0/counter"; echo "$1" >>"$0/log"; rmdir "$0/inside"'
contend() {  # contend KIND COMMAND...: until the file `over` exists
  local kind=$1
  shift
  until [ -e "$work/over" ]; do
    "$@" sh -c "$INCREMENT" "$work" "$kind" >"$work/$kind.log" 2>&1
    sleep "0.$((RANDOM % 2))$((RANDOM % 10))"  # else the program that waits on the server has every turn
  done
}
runs_of() { grep -c "^$1$" "$work/log"; }
is_over() { grep -q overlap "$work/log" || { [ "$(runs_of peer)" -ge "$EACH" ] && [ "$(runs_of ours)" -ge "$EACH" ]; }; }
contest() {  # contest KEY-OF-OURS: runs of both programs until each has run often, or two overlap
  local key=$1
  end_holders  # of a check that failed
  rm -rf "$work/over" "$work/inside" "$work/log"
  echo 0 >"$work/counter"
  : >"$work/log"
  CONTENDERS=()
  contend peer peer run & CONTENDERS+=($!)
  contend peer peer try & CONTENDERS+=($!)
  (KEY=$key && contend ours ours --on-busy wait --wait-timeout 30s --) & CONTENDERS+=($!)
  (KEY=$key && contend ours ours --on-busy skip --) & CONTENDERS+=($!)
  wait_until 90 is_over
  touch "$work/over"
  wait "${CONTENDERS[@]}"
  CONTENDERS=()
}
overlaps() { grep -q overlap "$work/log"; }
each_ran() {
  sort "$work/log" | uniq -c
  [ "$(runs_of peer)" -ge "$EACH" ] && [ "$(runs_of ours)" -ge "$EACH" ]
}

# both NAME STORE SERVERS PEER...: NAME and cronlatch with the same key
both() {
  local name=$1
  STORE=$2 SERVERS=$3 PEER=("${@:4}") KEY=locks:${1//[ ,]/-}
  check "$name: a run of the program" hold theirs peer run
  check "$name: holds the lock: cronlatch skips (0), fails (75), and times out (75)" is_excluded
  check "$name: cronlatch names the other program as the holder" names_the_holder
  check "$name: the run ends with the code of its command" ends theirs 0
  check "$name: a run of cronlatch" hold mine ours --
  check "$name: holds the lock: the program does not acquire it" peer_is_excluded
  check "$name: the run of cronlatch ends" ends mine 0
  check "$name: each acquires the lock after the other" both_acquire

  check "$name: cronlatch waits for the end of an expired lease, and acquires the lock" acquires_after_the_lease
  check "$name: the program's late extension is refused, and its release" ends late $REFUSED
  check "$name: leaves the lock of cronlatch" peer_is_excluded
  check "$name: whose run is not stopped" ends next 0

  check "$name: a run of cronlatch is killed" crashes
  check "$name: the program acquires the lock after the lease" code 0 peer run true
  check "$name: the key of a run is deleted and the program acquires it: the run is stopped (79)" is_taken
  contest "$KEY"
  check "$name: contenders of both programs run" each_ran
  refuses "$name: no two of them run at once" overlaps
  check "$name: no increment of their counter is lost" [ "$(cat "$work/counter")" = "$(wc -l <"$work/log")" ]
  contest "$KEY:other"
  check "$name: control: with different keys, two of them run at once" overlaps
}

# The key of a live run is deleted, until the program has acquired it.
is_taken() {
  hold lost ours -- || return
  hold taker peer run &
  CONTENDERS=($!)
  wait_until 60 taken_once_more
  wait "${CONTENDERS[@]}" && CONTENDERS=() && wait_until 30 [ -s "$work/lost.code" ] && ends lost 79 && ends taker 0 && return
  cat "$work"/{lost,taker}.log
  return 1
}
# Not the value of the program, which cronlatch could then replace.
taken_once_more() {
  local port
  for port in ${SERVERS//,/ }; do redis-cli -p "$port" EVAL "$DELETE_OURS" 1 "$KEY" >/dev/null; done
  [ -e "$work/taker.began" ]
}
DELETE_OURS="if string.sub(redis.call('GET', KEYS[1]) or '', 1, 10) == 'cronlatch:' then redis.call('DEL', KEYS[1]) end"

SINGLE=redis://127.0.0.1:${PORTS[0]} SINGLE_SERVER=${PORTS[0]}
ALL_SERVERS=$(IFS=, && echo "${PORTS[*]}")
check "the servers of the quorum have run for max-ttl" wait_until 30 quorum_is_up
if reason=$(install_redlock 2>/dev/null); then
  both "redlock 4.2.0" "$SINGLE" "$SINGLE_SERVER" node "$PEERS/redlock/agent.js"
  both "redlock 4.2.0, quorum" "$QUORUM" "$ALL_SERVERS" node "$PEERS/redlock/agent.js"
else
  skip "redlock" "$reason"
fi
if reason=$(install_redsync 2>/dev/null); then
  both "redsync 4.13.0" "$SINGLE" "$SINGLE_SERVER" "$PEERS/redsync"
  both "redsync 4.13.0, quorum" "$QUORUM" "$ALL_SERVERS" "$PEERS/redsync"
else
  skip "redsync" "$reason"
fi
if reason=$(install_redis_py 2>/dev/null); then
  both "redis-py ${REDIS_PY#*==}" "$SINGLE" "$SINGLE_SERVER" env PYTHONPATH="$PEERS/python" python3 -B "$PEERS/redis_py_agent.py"
else
  skip "redis-py" "$reason"
fi
finish
