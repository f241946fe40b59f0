#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The value injection: the operator's setting, the right to read nodes, and the written-out gates. policy_mode_test.sh
# compares the policy's result with the operator's.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

has_setting() { holds "one(\"ConfigMap\"; \"cronlatch-operator\").data[\"operator.yaml\"] | contains(\"\\ninjection: $1\\n\")"; }
NODES='[.[] | select(.kind | endswith("Role")).rules[] | select(.resources | index("nodes"))]'

for value in '' init-container image-volume; do
  render "${BASE[@]}" ${value:+--set injection=$value}
  check "${value:-by default}: the setting is ${value:-init-container}" has_setting "${value:-init-container}"
  check "${value:-by default}: the operator has no right to read nodes" holds "$NODES == []"
done
render "${BASE[@]}" --set injection=auto
check "auto: the operator decides" has_setting auto
check "auto: it may list and watch nodes, and nothing more" holds "$NODES"' == [{apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"]}]'
render "${BASE[@]}" --set injection=auto --set 'namespaces={shop}'
check "auto with namespaces: the init container" has_setting init-container
check "auto with namespaces: no right to read nodes" holds "$NODES == []"
render "${BASE[@]}" --set injection=auto --set admission.mode=policy,clusterName=eu-1
check "auto in mode policy: the init container, in operator and policy" has_setting init-container
check "auto in mode policy: no right to read nodes" holds "$NODES == []"
check "another value is refused" refused_with injection "${BASE[@]}" --set injection=volume

JOB=(--set 'cronJobs.nightly.schedule=0 2 * * *,cronJobs.nightly.image=a,cronJobs.nightly.command={b}')
POD='one("CronJob"; "nightly").spec.jobTemplate.spec.template.spec'
for value in init-container auto; do
  render "${BASE[@]}" "${JOB[@]}" --set injection=$value
  check "a written-out CronJob with $value: an init container copies the wrapper" holds "$POD"' | .initContainers[0].name == "cronlatch-install"
    and .volumes[0] == {name: "cronlatch-bin", emptyDir: {sizeLimit: "32Mi"}}'
done
render "${BASE[@]}" "${JOB[@]}" --set injection=image-volume,inject.image=mirror.corp/cronlatch@sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a,inject.pullPolicy=Always
check "a written-out CronJob with image-volume: the image is mounted, read-only, by its digest" holds "$POD"' | .initContainers == null
  and .volumes[0] == {name: "cronlatch-bin", image: {reference: "mirror.corp/cronlatch@sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", pullPolicy: "Always"}}
  and .containers[0].volumeMounts[0] == {name: "cronlatch-bin", mountPath: "/cronlatch-bin", readOnly: true}'
finish
