# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Several real Redis servers with TLS for one scenario, in the cluster's network, at the node's address. Sourced after
# lib.sh, when the namespace exists.

GROUP_HOME=$(mktemp -d)
declare -A PORT_OF BUS_PORT_OF
SERVERS=()

# make_group: the certificate of all servers, and the Secrets `redis-group` with the user of the runs.
make_group() {
  # shellcheck disable=SC2153  # use_cluster sets NAME
  authority "$GROUP_HOME" "Redis servers of $NAME"
  leaf "$GROUP_HOME/server" /CN=redis "IP:$NODE_IP"
  printf cron >"$GROUP_HOME/username"
  printf 'of the runs' >"$GROUP_HOME/password"
  secret_of_files cronlatch redis-group "$GROUP_HOME"/{username,password,ca.crt}
  secret_of_files "$NS" redis-group "$GROUP_HOME"/{username,password,ca.crt}
}

# use_group URL: installs the chart with that store.
use_group() { set_values --set "store.url=${1//,/\\,},store.secretName=redis-group,store.operatorSecretName=redis-group"; }
usual_chart() {
  install_chart >/dev/null
  local name
  for name in "${SERVERS[@]}"; do stop_program "redis-$NS-$name" 10; done
  rm -rf -- "$GROUP_HOME"
  kubectl -n cronlatch delete secret redis-group --ignore-not-found >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}

redis() { redis-cli -s "$GROUP_HOME/$1/redis.sock" "${@:2}"; }  # redis SERVER COMMAND...
address_of() { echo "$NODE_IP:${PORT_OF[$1]}"; }

# write_common NAME: the part of the configuration that servers and Sentinels share. The file is writable: a Sentinel and
# a node of a Cluster keep their state in the folder.
write_common() {
  mkdir -p "$GROUP_HOME/$1"
  PORT_OF[$1]=$(free_port)
  cat >"$GROUP_HOME/$1/redis.conf" <<CONF
bind $NODE_IP
port 0
protected-mode no
tls-port ${PORT_OF[$1]}
tls-cert-file $GROUP_HOME/server.crt
tls-key-file $GROUP_HOME/server.key
tls-ca-cert-file $GROUP_HOME/ca.crt
tls-auth-clients no
tls-replication yes
unixsocket $GROUP_HOME/$1/redis.sock
dir $GROUP_HOME/$1
CONF
}
start_written() {  # start_written NAME [WORD...]
  SERVERS+=("$1")
  start "redis-$NS-$1" redis-server "$GROUP_HOME/$1/redis.conf" "${@:2}"
  wait_until 30 redis "$1" ping >/dev/null 2>&1 ||
    { show <"$DIR/log/redis-$NS-$1.log" && fail "Redis server $1 did not start within 30 s" && finish; }
}

# start_server NAME [LINE...]: a server, with more lines of its configuration.
start_server() {
  write_common "$1"
  printf '%s\n' 'user cron on ">of the runs" ~cronlatch:* allchannels +@all' 'repl-diskless-sync-delay 0' 'save ""' \
    "${@:2}" >>"$GROUP_HOME/$1/redis.conf"
  start_written "$1"
}
# start_sentinel NAME MASTER
start_sentinel() {
  write_common "$1"
  printf '%s\n' "sentinel monitor mymaster $NODE_IP ${PORT_OF[$2]} 2" 'sentinel down-after-milliseconds mymaster 1000' \
    'sentinel failover-timeout mymaster 5000' 'user cron on ">of the runs" allchannels +@all' >>"$GROUP_HOME/$1/redis.conf"
  start_written "$1" --sentinel
}
# start_node NAME: a node of a Redis Cluster.
start_node() {
  BUS_PORT_OF[$1]=$(free_port)
  start_server "$1" 'cluster-enabled yes' 'cluster-node-timeout 2000' 'tls-cluster yes' "cluster-port ${BUS_PORT_OF[$1]}"
}

# kill_server NAME: as after a crash.
kill_server() {
  local pid
  pid=$(cat "$DIR/pid/redis-$NS-$1") && kill -KILL "$pid" && wait_until 10 gone "$pid"
}

# run_and_skip: a run holds the lock as `holder`, another one is skipped, and both are exported.
run_and_skip() {
  cronjob first lock=shared -- "$HOLD"
  cronjob second lock=shared -- "echo ran"
  start_job first holder
  needs "a run holds the lock" holds holder
  start_job second other
  becomes "a run of the second CronJob completes" complete other
  check "it was skipped" outcome_has other '"outcome":"skipped"' '"reason":"held"' "$NS/$(pod_of holder)"
  becomes "the grant is exported" exported "cronlatch_lock_acquired_total$(lock_of first shared) 1"
  becomes "the skip is exported" exported "cronlatch_lock_skipped_total$(lock_of second shared ',reason="held"') 1"
}

# still_held: after a failover the holder has its lock, and a later run is granted it after the release.
still_held() {
  check "the holder still runs" unfinished holder
  start_job second again
  becomes "another run completes" complete again
  check "it was skipped" outcome_has again '"outcome":"skipped"' '"reason":"held"'
  end_command holder
  becomes "the holder completes" complete holder
  check "its outcome is ran" outcome_has holder '"outcome":"ran"'
  becomes "the release is exported" exported "cronlatch_lock_released_total$(lock_of first shared) 1"
  start_job second later
  becomes "after that, the second CronJob runs" log_has later ran
}
