#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo failover: three Redis Sentinels, a master and two replicas. Replication is asynchronous: the master confirms a
# grant before a replica has it. The demo shows the double grant that a failover can give (docs/stores.md), and the same
# failover with strict.
set -euo pipefail
# shellcheck source=scripts/demo_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/demo_common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"

cleanup() {
  stop_holders
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap cleanup EXIT

redis() { redis-cli -s "$STAGE/$1/redis.sock" "${@:2}"; }  # redis SERVER COMMAND...

# start_server NAME [OPTION...]: the user `replica` is that of replication. Sets PORT_OF and PID_OF. A restarted server keeps
# its port.
declare -A PORT_OF PID_OF
start_server() {
  local name=$1
  shift
  start_redis "$STAGE/$name" ${PORT_OF[$name]:+--port "${PORT_OF[$name]}"} --user replica on '>of replication' +psync +replconf +ping --masteruser replica \
    --masterauth 'of replication' --repl-diskless-sync-delay 0 "$@"
  PORT_OF[$name]=${PORT_OF[$name]:-$REDIS_PORT} PID_OF[$name]=$REDIS_PID
}

# start_sentinel NAME MASTER-PORT: a Sentinel keeps its state in its configuration file.
start_sentinel() {
  local name=$1 dir=$STAGE/$1 port
  mkdir -p "$dir"
  port=$(free_port)
  cat >"$dir/sentinel.conf" <<CONF
bind 127.0.0.1
port $port
unixsocket $dir/redis.sock
dir $dir
sentinel monitor mymaster 127.0.0.1 $2 2
sentinel down-after-milliseconds mymaster 1000
sentinel failover-timeout mymaster 5000
CONF
  redis-server "$dir/sentinel.conf" --sentinel >"$dir/redis.log" 2>&1 &
  PORT_OF[$name]=$port PID_OF[$name]=$!
  REDIS_PIDS+=("$!")
  must "Sentinel $name did not start" wait_until 30 answers "$dir/redis.sock"
}

# Every Sentinel has found both replicas and the other Sentinels.
group_is_complete() {
  local name
  for name in sentinel-1 sentinel-2 sentinel-3; do
    redis "$name" sentinel ckquorum mymaster | grep -q '^OK 3 usable' || return 1
    [ "$(redis "$name" sentinel replicas mymaster | grep -c '^name$')" = 2 ] || return 1
  done
  [ "$(redis "$MASTER" info replication | grep -c 'state=online')" = 2 ]
}
named_master() { redis sentinel-1 sentinel get-master-addr-by-name mymaster | tail -n 1; }
accepts_writes() {  # accepts_writes PORT: a server other than that of this port is the master, and knows it
  local name port
  port=$(named_master)
  [ "$port" != "$1" ] || return 1
  for name in server-1 server-2 server-3; do
    [ "${PORT_OF[$name]}" = "$port" ] || continue
    redis "$name" role | head -n 1 | grep -q '^master$' && MASTER=$name && return 0
  done
  return 1
}

# Three servers and three Sentinels without data. The variable CRONLATCH_STORE is their URL.
start_group() {
  stop_all_redis
  rm -rf -- "$STAGE"/server-? "$STAGE"/sentinel-?
  PORT_OF=()
  MASTER=server-1
  start_server server-1
  start_server server-2 --replicaof 127.0.0.1 "${PORT_OF[server-1]}"
  start_server server-3 --replicaof 127.0.0.1 "${PORT_OF[server-1]}"
  local name
  for name in sentinel-1 sentinel-2 sentinel-3; do start_sentinel "$name" "${PORT_OF[server-1]}"; done
  must "the Sentinels did not find each other" wait_until 30 group_is_complete
  export CRONLATCH_STORE="redis+sentinel://127.0.0.1:${PORT_OF[sentinel-1]},127.0.0.1:${PORT_OF[sentinel-2]},127.0.0.1:${PORT_OF[sentinel-3]}/mymaster"
  show "export CRONLATCH_STORE=$CRONLATCH_STORE"
}
# The replicas lose their connection to the master, and cannot open another one.
disconnect_replicas() {
  show "redis-cli ACL SETUSER replica off; redis-cli CLIENT KILL TYPE replica"
  redis "$MASTER" acl setuser replica off >/dev/null
  redis "$MASTER" client kill type replica >/dev/null
}
connect_replicas() {
  show "redis-cli ACL SETUSER replica on"
  redis "$MASTER" acl setuser replica on >/dev/null
  must "the replicas did not connect" wait_until 30 group_is_complete
}
kill_master() {
  local port=${PORT_OF[$MASTER]} pid=${PID_OF[$MASTER]}
  show "kill -9 $pid"
  kill -9 "$pid"
  { wait "$pid" || true; } 2>/dev/null
  must "no replica was promoted" wait_until 30 accepts_writes "$port"
  echo "The Sentinels have promoted $MASTER."
}

# ---- an asynchronous failover ----

describe "1. Three Sentinels monitor a master with two replicas:"
start_group

describe "2. The connection between the master and its replicas breaks. A is granted the lock: the master confirms it, and no replica has it:"
disconnect_replicas
gate A --ttl 30s
GATE_A=$GATE
must "A did not run" wait_until 30 runs A
cat "$STAGE/A.log"

describe "3. The master is killed. The grant of A is lost with it. B requests the lock at the promoted server, before A renews its lease:"
kill_master
gate B --ttl 30s
GATE_B=$GATE
must "B did not run" wait_until 30 runs B
cat "$STAGE/B.log"
must "A does not run any more" eval "! ended $GATE_A"
must "B's token is not higher than A's" [ "$(fence B)" -gt "$(fence A)" ]
echo "Both commands run: A (token $(fence A)) and B (token $(fence B)). A resource that checks the tokens refuses A."

describe "4. At its next renewal, A reads that it lost the lock, and its command is stopped:"
code=0
wait "$GATE_A" || code=$?
cat "$STAGE/A.log"
echo "exit code $code"
must "A's exit code is not 79" [ "$code" = 79 ]
must "B does not run any more" eval "! ended $GATE_B"
touch "$STAGE/B.end"
must "B failed" wait "$GATE_B"

echo "An asynchronous failover granted one lock twice, until the next renewal of the first run."

# ---- strict ----
describe "5. With strict, a grant counts when both replicas have acknowledged it. New servers; their first epoch is recorded:"
start_group
export CRONLATCH_STRICT=true CRONLATCH_MIN_REPLICAS=2 CRONLATCH_MAX_TTL=10s CRONLATCH_TTL=10s CRONLATCH_KILL_AFTER=3s
show "export CRONLATCH_STRICT=true CRONLATCH_MIN_REPLICAS=2 CRONLATCH_MAX_TTL=10s CRONLATCH_TTL=10s CRONLATCH_KILL_AFTER=3s"
show "cronlatch store init"
"$BINARY" store init

describe "6. The connection between the master and its replicas breaks, as in step 2. C is not granted the lock:"
disconnect_replicas
gate C
must "C did not end" wait_until 30 ended "$GATE"
code=0
wait "$GATE" || code=$?
cat "$STAGE/C.log"
echo "exit code $code"
must "C's exit code is not 69" [ "$code" = 69 ]
must "C ran" eval "! runs C"

describe "7. The replicas connect again, and D is granted the lock:"
connect_replicas
gate D
GATE_D=$GATE
must "D did not run" wait_until 30 runs D
cat "$STAGE/D.log"

describe "8. The connection breaks and the master is killed. E requests the lock at the promoted server, which has the grant of D: both replicas had acknowledged it. E waits. One replica is missing, so D's lease is not renewed, and its command is stopped before the lease ends:"
disconnect_replicas
former=$MASTER
kill_master
gate E --on-busy wait --on-store-down wait
GATE_E=$GATE
must "D did not end" wait_until 60 ended "$GATE_D"
code=0
wait "$GATE_D" || code=$?
must "E ran beside D" eval "! runs E"
cat "$STAGE/D.log"
echo "exit code $code"
must "D's exit code is not 79" [ "$code" = 79 ]

describe "9. The killed server starts again as a replica. The promoted server has another replication history, so it grants nothing in a quarantine of max-ttl. Then E is granted the lock:"
show "redis-server ... --port ${PORT_OF[$former]} --replicaof 127.0.0.1 ${PORT_OF[$MASTER]} &"
start_server "$former" --replicaof 127.0.0.1 "${PORT_OF[$MASTER]}"
must "E did not run" wait_until 60 runs E
cat "$STAGE/E.log"
must "the log of E does not contain the quarantine" log_matches E 'strict: it grants nothing until their leases have ended'
must "E's token is not higher than D's" [ "$(fence E)" -gt "$(fence D)" ]
touch "$STAGE/E.end"
must "E failed" wait "$GATE_E"

describe "Result: an asynchronous failover granted one lock twice. With strict, it did not: no grant without the replicas, and none within max-ttl after the failover. One Redis with appendfsync always, or a PostgreSQL with a synchronous standby (./dev demo postgres), needs no quarantine. The servers are stopped and their files are removed."
