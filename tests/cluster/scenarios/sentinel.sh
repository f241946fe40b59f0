#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operator and gated Jobs with Redis Sentinels: a run, a skipped run, metrics, and a failover during a run with its Event.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
# shellcheck source=tests/cluster/redis_group.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../redis_group.sh"
trap usual_chart EXIT

make_group
start_server server-1
start_server server-2 "replicaof $NODE_IP ${PORT_OF[server-1]}"
for name in sentinel-1 sentinel-2 sentinel-3; do start_sentinel "$name" server-1; done
group_is_complete() {
  local name
  for name in sentinel-1 sentinel-2 sentinel-3; do
    redis "$name" sentinel ckquorum mymaster | grep -q '^OK 3 usable' || return 1
    [ "$(redis "$name" sentinel replicas mymaster | grep -c '^name$')" = 1 ] || return 1
  done
  redis server-1 info replication | grep -q state=online
}
needs "each Sentinel has found the others and the replica" group_is_complete
URL=rediss+sentinel://$(address_of sentinel-1),$(address_of sentinel-2),$(address_of sentinel-3)/mymaster
check "the chart is installed with the Sentinels" use_group "$URL"
becomes "the operator reads the master" exported "cronlatch_store_up{endpoint=\"$(address_of server-1)\"} 1"

run_and_skip

fence() { redis "$1" hget "cronlatch:{$NS/shared}" fence; }
granted=$(fence server-1)
is_replicated() { [ -n "$granted" ] && [ "$(fence server-2)" = "$granted" ]; }
becomes "the replica has the grant" is_replicated
check "the master is killed" kill_server server-1
is_promoted() { redis server-2 role | head -n 1 | grep -qx master; }
becomes "the Sentinels promote the replica" is_promoted
becomes "the operator reads the new master" exported "cronlatch_store_up{endpoint=\"$(address_of server-2)\"} 1"
switch_event() {
  kubectl -n cronlatch get events.v1.events.k8s.io -o jsonpath='{range .items[*]}{.reason} {.regarding.kind} {.note}{"\n"}{end}' |
    grep '^StoreSwitched Pod ' | grep -F "$(address_of server-2)" | grep -F "$(address_of server-1)"
}
becomes "an Event on the leader's pod names both servers" switch_event
becomes "the switch is counted" exported 'cronlatch_store_switches_total 1'
check "the new master has the same grant" is_replicated
still_held
finish
