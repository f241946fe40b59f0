#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `helm test`: the chart's Job runs a file that only a gated pod has, so that a Job that was not gated fails. The operator's rewrite
# (tests/admit_jobs) gates it.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

TEST='one("Job"; "cronlatch-test")'
MAIN="$TEST.spec.template.spec.containers[0]"
NONE='all(.[]; .kind != "Job")'
ADMIT=$ROOT/build/dev/tests/admit_jobs

render "${BASE[@]}"
check "the command of the test is below the mount of the wrapper" holds "$MAIN.command == [\"/cronlatch-bin/cronlatch\", \"version\"]"
check "which a Job that is not gated does not have: nothing is mounted, and the image has the wrapper elsewhere" holds "
  ($TEST.spec.template.spec | has(\"volumes\") | not) and ($MAIN | has(\"volumeMounts\") | not)"
image_has_it_elsewhere() { grep -rqF '/cronlatch' "$ROOT/packaging" && ! grep -rnF '/cronlatch-bin' "$ROOT/packaging"; }
check "the image has no folder /cronlatch-bin" image_has_it_elsewhere
gates_the_test() {  # gates_the_test OPTION...: the result of the operator
  render "${BASE[@]}" --set clusterName=eu-1 "$@"
  jq -r '.[] | select(.kind == "ConfigMap" and .metadata.name == "cronlatch-operator").data["operator.yaml"]' "$STAGE/objects.json" >"$STAGE/settings.yaml"
  jq 'map(select(.kind == "Job"))' "$STAGE/objects.json" | "$ADMIT" "$STAGE/settings.yaml" >"$STAGE/admitted.json"
  jq . "$STAGE/admitted.json"
  jq --exit-status 'length == 1 and (.[0] | .result == "gated" and (.object.spec.template.spec.containers[0]
    | (.command[:3] == ["/cronlatch-bin/cronlatch", "run", "--isolated"]) and (.command[-3:] == ["--", "/cronlatch-bin/cronlatch", "version"])
      and any(.volumeMounts[]; .mountPath == "/cronlatch-bin")))' "$STAGE/admitted.json" >/dev/null
}
if [ -x "$ADMIT" ]; then
  check "the operator gates it, and keeps its command" gates_the_test
  check "with a mounted image, too" gates_the_test --set injection=image-volume
else
  skip "the operator's rewrite" "build/dev/tests/admit_jobs not found (./dev build dev builds it)"
fi

for excluded in 'namespaces={shop}' webhook.enabled=false helmTest.enabled=false 'webhook.namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=shop'; do
  render "${BASE[@]}" --set "$excluded"
  check "not rendered with ${excluded//\\/}" holds "$NONE"
done
for included in 'namespaces={shop,cronlatch}' 'webhook.namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=cronlatch' webhook.namespaceSelector.matchLabels.team=a; do
  render "${BASE[@]}" --set "$included"
  check "rendered with ${included//\\/}" holds "$TEST"
done
finish
