#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operator and gated Jobs with a Redis Cluster: a run, a skipped run, metrics, and a failover of the lock's master during a run.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
# shellcheck source=tests/cluster/redis_group.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../redis_group.sh"
trap usual_chart EXIT

MASTERS=(node-1 node-2 node-3)
REPLICAS=(node-4 node-5 node-6)
make_group
for name in "${MASTERS[@]}" "${REPLICAS[@]}"; do start_node "$name"; done
for i in 0 1 2; do
  redis "${MASTERS[i]}" cluster addslotsrange $((i * 16384 / 3)) $(((i + 1) * 16384 / 3 - 1)) >/dev/null
  redis "${MASTERS[i]}" cluster set-config-epoch $((i + 1)) >/dev/null
done
for name in "${MASTERS[@]:1}" "${REPLICAS[@]}"; do
  redis node-1 cluster meet "$NODE_IP" "${PORT_OF[$name]}" "${BUS_PORT_OF[$name]}" >/dev/null
done
replicate() { redis "$1" cluster replicate "$(redis "$2" cluster myid)" | grep -qx OK; }
for i in 0 1 2; do needs "node-$((i + 4)) is a replica" replicate "${REPLICAS[i]}" "${MASTERS[i]}"; done
is_ok() {
  local name
  for name in "${MASTERS[@]}" "${REPLICAS[@]}"; do
    redis "$name" cluster info | tr -d '\r' | grep -qx cluster_state:ok || return 1
    [ "$(redis "$name" cluster nodes | grep -c connected)" = 6 ] || return 1
  done
  for name in "${MASTERS[@]}"; do redis "$name" info replication | grep -q state=online || return 1; done
}
needs "the Cluster is complete" is_ok
URL=rediss+cluster://$(address_of node-1),$(address_of node-2),$(address_of node-3)
check "the chart is installed with the Cluster" use_group "$URL"

run_and_skip

fence() { redis "$1" hget "cronlatch:{$NS/shared}" fence 2>/dev/null | grep -xE '[0-9]+'; }
owner=''
for i in 0 1 2; do [ -z "$(fence "${MASTERS[i]}")" ] || owner=$i; done
check "one master has the record" test -n "$owner"
replica=${REPLICAS[owner]}
granted=$(fence "${MASTERS[owner]}")
check "that master is killed" kill_server "${MASTERS[owner]}"
is_promoted() { redis "$replica" role | head -n 1 | grep -qx master; }
becomes "its replica is promoted" is_promoted
same_grant() { [ "$(fence "$replica")" = "$granted" ]; }
becomes "the new master has the same grant" same_grant
still_held
finish
