#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Values that cannot work are refused at the rendering: the API server, the kubelet or the operator would refuse them later.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

refuses_value() { check "refuses $1" refused_with "$2" "${BASE[@]}" --set-json "$3" "${@:4}"; }
accepts_value() { check "accepts $1" chart_template "${BASE[@]}" --set-json "$2" "${@:3}"; }
JOB='"schedule":"@daily","image":"i","command":["a"]'
LONG=$(printf 'a%.0s' {1..64})

# ---- the form of a value ----
for key in commonLabels podLabels redis.podLabels redis.namespaceLabels nodeSelector serviceMonitor.additionalLabels webhook.namespaceSelector.matchLabels; do
  at=/${key//./\/}
  refuses_value "a label with a blank in $key" "$at/team" "$key={\"team\":\"a b\"}"
  refuses_value "a label of 64 characters in $key" "$at/team" "$key={\"team\":\"$LONG\"}"
  refuses_value "a label's name with a blank in $key" "$at" "$key={\"a team\":\"b\"}"
  accepts_value "an empty label, one of 63 characters, and a prefix in $key" "$key={\"a\":\"\",\"example.com/b_C\":\"${LONG:1}\"}"
done
refuses_value "a label of 64 characters in cronJobs" "labels" "cronJobs={\"a\":{$JOB,\"labels\":{\"team\":\"$LONG\"}}}"
refuses_value "a label of 64 characters in select" "labels" "select=[{\"namespace\":\"a\",\"labels\":{\"team\":\"$LONG\"},\"annotations\":{\"lock\":\"true\"}}]"
refuses_value "a label of dashboards with a blank" "labelValue" 'dashboards.labelValue="a b"'
for key in podDisruptionBudget.maxUnavailable maxUnavailable; do
  refuses_value "more than all pods in $key" "/${key//./\/}" "$key=\"101%\""
  accepts_value "all pods in $key" "$key=\"100%\""
done
for value in '"abc"' '"1GB"' '"-1Mi"' '"1.2.3Gi"' '""' -1; do
  refuses_value "the quantity $value" "/resources/limits/memory" "resources.limits.memory=$value"
done
for value in '"100u"' '"5000n"' '"128974848"' '"1.5Gi"' '"129e6"' '"100m"' '"0.5"' 134217728 0.5; do
  accepts_value "the quantity $value" "resources.requests.memory=$value"
done
refuses_value "a size of no number" "size" 'redis.persistence.size="..Gi"'
for size in 0Gi 00Gi 0.0Gi; do refuses_value "the size $size" "size" "redis.persistence.size=\"$size\""; done
for size in 01Gi 00.5Gi 1.Gi 10Gi .5Ti; do accepts_value "the size $size" "redis.persistence.size=\"$size\"" --set redis.enabled=true,store.url=; done
for key in priorityClassName runtimeClassName redis.priorityClassName; do
  refuses_value "a blank in $key" "lassName" "$key=\"A B\""
done
refuses_value "a blank in a PriorityClass of cronJobs" "lassName" "cronJobs={\"a\":{$JOB,\"priorityClassName\":\"A B\"}}"
for cidr in 10.0.0.0/99 10.0.0.0/33 10.0.0.256/8 10.0.0/8 fd00::/129 10/8; do
  refuses_value "the addresses $cidr" "apiServerCIDRs" "networkPolicy.apiServerCIDRs=[\"$cidr\"]"
done
for cidr in 10.0.0.0/8 0.0.0.0/0 192.0.2.255/32 fd00::/8 ::/0 fd00::1/128; do
  accepts_value "the addresses $cidr" "networkPolicy.apiServerCIDRs=[\"$cidr\"]"
done
refuses_value "an issuer without a name" "issuerRef: the name is missing" 'certificates.certManager.issuerRef={"kind":"ClusterIssuer"}' --set certificates.mode=cert-manager
accepts_value "an issuer without a name in mode own, which does not use it" 'certificates.certManager.issuerRef={"kind":"ClusterIssuer"}'

# The operator decides in the same way.
ADMIT=$ROOT/build/dev/tests/admit_jobs
[ -x "$ADMIT" ] || skip "the operator's decisions" "build/dev/tests/admit_jobs not found"
operator_accepts() {
  jq -n --arg image "$1" '{image: $image}' >"$STAGE/operator.yaml"
  "$ADMIT" "$STAGE/operator.yaml" <<<'[]'
}
operator_refuses() { ! operator_accepts "$1" 2>"$STAGE/error" && grep "is not the name of an image" "$STAGE/error"; }
refuses_image() {  # refuses_image IMAGE [TEXT]
  refuses_value "the image '$1'" "${2:-inject/image}" "inject.image=\"$1\""
  [ ! -x "$ADMIT" ] || check "so does the operator: '$1'" operator_refuses "$1"
}
DIGITS=$(printf '0%.0s' {1..64})
for image in 'foo bar' https://mirror.corp/cronlatch a/B Registry/a cronlatch: cronlatch@sha256:0a "cronlatch@sha256:$DIGITS$DIGITS" "cronlatch@sha512:$DIGITS" mirror.corp:0/cronlatch \
  'a;b' -a a/ /a a//b registry_x.corp/a:1 a..b/c a../b -a.b/c a.b-/c Registry.corp_x/a registry:123456/a; do
  refuses_image "$image"
done
for port in 65536 70000 99999; do refuses_image "reg.corp:$port/a" "inject.image: the port $port of reg.corp:$port is out of range"; done
refuses_value "the port in written-out gates, too" "inject.image: the port 70000" "cronJobs={\"a\":{$JOB}}" --set operator.enabled=false,inject.image=reg.corp:70000/a
for image in cronlatch mirror.corp:5000/a/b_c-d:1.0 localhost/cronlatch "[fd00::1]:5000/cronlatch@sha256:$DIGITS" "Mirror.corp/x__y.z:v1@sha256:${DIGITS//0/f}" \
  "a/b@sha512:$DIGITS$DIGITS" registry:65535/a a.b a/b.c:1 a-b.c--d/e; do
  accepts_value "the image $image" "inject.image=\"$image\""
  [ ! -x "$ADMIT" ] || check "so does the operator: $image" operator_accepts "$image"
done

for key in statusReaders metrics.readers; do
  at=/${key//./\/}/0
  refuses_value "a subject without a kind in $key" "$at" "$key=[{\"name\":\"x\"}]"
  refuses_value "a subject without a name in $key" "$at" "$key=[{\"kind\":\"User\"}]"
  refuses_value "a subject of another kind in $key" "$at/kind" "$key=[{\"kind\":\"user\",\"name\":\"x\"}]"
  refuses_value "a subject of another API in $key" "$at/apiGroup" "$key=[{\"kind\":\"User\",\"name\":\"x\",\"apiGroup\":\"v1\"}]"
  accepts_value "each kind of subject in $key" "$key=[{\"kind\":\"User\",\"name\":\"a@corp\"},{\"kind\":\"Group\",\"name\":\"system:masters\",\"apiGroup\":\"rbac.authorization.k8s.io\"},{\"kind\":\"ServiceAccount\",\"name\":\"s\",\"namespace\":\"n\"}]"
done
refuses_value "a ServiceAccount without a namespace in a ClusterRoleBinding" "metrics.readers[0]: the namespace of ServiceAccount s is missing" 'metrics.readers=[{"kind":"ServiceAccount","name":"s"}]' --set metrics.auth=token
accepts_value "the same without tokens, which renders no binding" 'metrics.readers=[{"kind":"ServiceAccount","name":"s"}]'
accepts_value "a ServiceAccount without a namespace in a RoleBinding" 'statusReaders=[{"kind":"ServiceAccount","name":"s"}]'

# ---- combinations ----
refuses_value "Deny and Warn together" "Deny and Warn exclude each other" 'policies.validationActions=["Deny","Warn"]'
accepts_value "Warn and Audit together" 'policies.validationActions=["Warn","Audit"]'
accepts_value "a user namespace on the host's network" hostUsers=false --set hostNetwork=true
refuses_value "dnsPolicy None without name servers" "Set dnsConfig.nameservers" 'dnsPolicy="None"'
refuses_value "dnsPolicy None with options only" "Set dnsConfig.nameservers" 'dnsPolicy="None"' --set-json 'dnsConfig={"options":[{"name":"ndots","value":"1"}]}'
accepts_value "dnsPolicy None with a name server" 'dnsPolicy="None"' --set-json 'dnsConfig={"nameservers":["192.0.2.1"]}'
for times in 24h:48h 24h:24h 24h:1440m 1h:3600s; do
  refuses_value "renewBefore ${times#*:} of a certificate for ${times%:*}" "renewBefore: ${times#*:} is not below duration, which is ${times%:*}" \
    "certificates.certManager.duration=\"${times%:*}\"" --set "certificates.certManager.renewBefore=${times#*:},certificates.mode=cert-manager"
done
accepts_value "renewBefore below the duration" 'certificates.certManager.duration="24h"' --set certificates.certManager.renewBefore=8h,certificates.mode=cert-manager
accepts_value "a webhook that cannot wait for a lookup" webhook.timeoutSeconds=1
for time in 0s 999h 99999h 301s; do
  refuses_value "a lookup for $time" "entrypointLookup.timeout: $time is out of range. Allowed: 1s to 5m" "entrypointLookup.timeout=\"$time\""
done
accepts_value "a lookup for 5m" 'entrypointLookup.timeout="5m"'
for port in 0 65536 99999 100000; do
  check "refuses port $port of the store" refused_with "store.url: the port $port of redis.shop.:$port" --set "store.url=rediss://redis.shop.:$port"
  check "refuses port $port of a second host of the store" refused_with "store.url: the port $port of b" \
    --set-json "store.url=\"postgres://u@a:5432,b:$port/db\""
done
refuses_value "a registry with port 99999" "entrypointLookup.registries: the port 99999 of registry.corp:99999" 'entrypointLookup.registries=["registry.corp:99999"]'
check "accepts the greatest port" chart_template --set store.url=rediss://redis.shop.:65535 --set-json 'entrypointLookup.registries=["[fd00::1]:65535","ghcr.io"]'
finish
