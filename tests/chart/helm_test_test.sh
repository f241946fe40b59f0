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
# image_has_it_elsewhere FILE: a file that builds an image.
image_has_it_elsewhere() { grep -qiE 'entrypoint"?[: ] ?[[]"/cronlatch"[]]' "$1" && ! grep -nF 'cronlatch-bin' "$1"; }
for file in Dockerfile scripts/release.sh scripts/cluster_product_image.sh; do
  check "the image of $file has no folder /cronlatch-bin" image_has_it_elsewhere "$ROOT/$file"
done
sed 's,"/cronlatch",/cronlatch-wrapper,' "$ROOT/Dockerfile" >"$STAGE/moved"
refuses "control: another place of the wrapper is detected" image_has_it_elsewhere "$STAGE/moved"
{ cat "$ROOT/Dockerfile" && echo 'COPY cronlatch /cronlatch-bin/'; } >"$STAGE/copied"
refuses "control: a folder /cronlatch-bin is detected" image_has_it_elsewhere "$STAGE/copied"
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
# by_name OPERATOR NAMESPACES: a selector by the names of namespaces.
by_name() { printf 'webhook.namespaceSelector.matchExpressions=[{"key":"team","operator":"Exists"},{"key":"kubernetes.io/metadata.name","operator":"%s","values":%s}]' "$1" "$2"; }
for excluded in "$(by_name In '["shop","billing"]')" "$(by_name NotIn '["kube-system","cronlatch"]')" "$(by_name DoesNotExist '[]')"; do
  render "${BASE[@]}" --set-json "$excluded"
  check "not rendered with ${excluded#*,}" holds "$NONE"
done
for included in "$(by_name In '["shop","cronlatch"]')" "$(by_name NotIn '["kube-system"]')" "$(by_name Exists '[]')" \
  'webhook.namespaceSelector.matchExpressions=[{"key":"team","operator":"NotIn","values":["cronlatch"]}]'; do
  render "${BASE[@]}" --set-json "$included"
  check "rendered with ${included#*,}" holds "$TEST"
done
for included in 'namespaces={shop,cronlatch}' 'webhook.namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=cronlatch' webhook.namespaceSelector.matchLabels.team=a; do
  render "${BASE[@]}" --set "$included"
  check "rendered with ${included//\\/}" holds "$TEST"
done
finish
