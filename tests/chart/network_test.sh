#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The NetworkPolicy is complete: it allows every port that the operator listens on and every server that the operator
# connects to, and it selects only the operator's pods. The allowed ports are compared with the other objects, not with
# a list.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

POLICY='one("NetworkPolicy"; "cronlatch-operator").spec'
POD='one("Deployment"; "cronlatch-operator").spec.template'
IN="[$POLICY.ingress[].ports[]? | [.port, .protocol]]"
OUT="[$POLICY.egress[].ports[]? | [.port, .protocol]]"

opens() { printf 'any(.[]; . == [%s, "%s"])' "$1" "${2:-TCP}"; }
DNS="($OUT | $(opens 53 UDP) and $(opens 53))"
LISTENS="($IN == [$POD"'.spec.containers[0].ports[] | [.containerPort, .protocol]])'
ABOUT="($POLICY.podSelector.matchLabels as \$wanted | $POD"'.metadata.labels | contains($wanted))'
BOTH="($POLICY"'.policyTypes == ["Ingress", "Egress"])'
COMPLETE="$DNS and $LISTENS and $ABOUT and $BOTH"

on() { render "${BASE[@]}" --set networkPolicy.enabled=true "$@"; }
on
check "by default: DNS over UDP and TCP, and each port that the pod listens on" holds "$COMPLETE"
check "by default: the API server on both of its usual ports, and the store on its own" holds "$OUT | $(opens 443) and $(opens 6443) and $(opens 6379)"
check "by default any address may connect as the API server, because its addresses are not those of a pod" holds "[$POLICY"'.ingress[] | select(.ports[0].port == 8443) | has("from")] == [false]'
check "by default metrics are read from pods of the cluster" holds "[$POLICY"'.ingress[] | select(.ports[0].port == 8080).from] == [[{namespaceSelector: {}}]]'
# An empty list of peers differs from a missing list: it is refused, or matches no peer.
check "no rule has an empty list of peers" holds "[$POLICY"' | .ingress[].from, .egress[].to | select(. != null) | length] | all(.[]; . > 0)'
# The chart's test is a Job that connects to the store; the policy must not select it.
check "it selects no other pod of the chart" holds "$POLICY"'.podSelector.matchLabels as $wanted
  | [.[] | select(.kind == "Job").spec.template.metadata.labels // {} | contains($wanted)] | any | not'

on --set ports.admission=9843,ports.plain=9880,store.url=rediss://redis.shop.svc.cluster.local.:6390
check "other ports: the same" holds "$COMPLETE"
check "other ports: the store's is the one of its URL" holds "$OUT | $(opens 6390) and ($(opens 6379) | not)"
on --set 'store.url=rediss://[2001:db8::7]'
check "an IPv6 address without a port: the store's default" holds "$OUT | $(opens 6379)"
on --set 'store.url=postgres://cron@db-1.example.\,db-2.example.:6432\,[2001:db8::7]:7000/cronlatch?sslmode=require'
check "PostgreSQL: its usual port, the ports of the other hosts, and not that of Redis" holds "$OUT | $(opens 5432) and $(opens 6432) and $(opens 7000) and ($(opens 6379) | not)"
on --set store.url='redis://r1.example\,redis://r2.example:7000/0\,redis://r3.example'
check "a quorum: the ports of all servers" holds "$OUT | $(opens 6379) and $(opens 7000)"
on --set store.url=postgres://cron@db.example./cronlatch,networkPolicy.storePorts='{6432}'
check "PostgreSQL behind a pooler: the additional port of the store" holds "$OUT | $(opens 5432) and $(opens 6432)"
render --values "$CHART/ci/netpol-values.yaml"
check "narrowed: the same ports" holds "$COMPLETE"
check "narrowed: API server in both directions, store in egress, Prometheus in ingress, additional rules last" holds "$POLICY"'
  | (.ingress[0].from == [{ipBlock: {cidr: "198.18.0.0/24"}}]) and (.egress[1].to == .ingress[0].from)
  and .ingress[1].from[0].namespaceSelector.matchLabels["kubernetes.io/metadata.name"] == "monitoring"
  and .egress[2].to[0].podSelector.matchLabels.app == "redis"
  and .ingress[-1].from[0].ipBlock.cidr == "203.0.113.0/24" and .egress[-1].to[0].ipBlock.cidr == "203.0.113.0/24"'
check "narrowed: DNS queries to any address are allowed" holds "[$POLICY"'.egress[] | select(.ports[0]?.port == 53) | has("to")] == [false]'

broken() {  # broken JQ-CHANGE
  on && jq "map(if .kind == \"NetworkPolicy\" then $1 else . end)" "$STAGE/objects.json" >"$STAGE/broken.json" &&
    mv "$STAGE/broken.json" "$STAGE/objects.json" && holds "$COMPLETE"
}
refuses "control: DNS over UDP alone is found" broken '.spec.egress[0].ports |= .[0:1]'
refuses "control: a closed port is found" broken '.spec.ingress |= .[0:1]'
refuses "control: another pod's label is found" broken '.spec.podSelector.matchLabels.a = "b"'
refuses "control: a policy without its types is found" broken 'del(.spec.policyTypes)'
finish
