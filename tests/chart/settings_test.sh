#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operator accepts all settings that the chart renders. It refuses unknown keys.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

OPERATOR=${TESTED_OPERATOR:-$ROOT/build/dev/cronlatch-operator}
if [ ! -x "$OPERATOR" ]; then
  skip "everything" "no operator at $OPERATOR (./dev build dev)"
  exit 0
fi
# Outside of a cluster the operator refuses mode `own`, after it has read the settings. It does not open a port in this
# test.
unset KUBERNETES_SERVICE_HOST
settings() {
  jq -r '.[] | select(.kind == "ConfigMap" and .data["operator.yaml"]) | .data["operator.yaml"]' "$STAGE/objects.json" |
    sed 's/^certificate-mode: files/certificate-mode: own/' >"$STAGE/operator.yaml"
}
reads() {
  local seen
  seen=$("$OPERATOR" --config "$STAGE/operator.yaml" 2>&1)
  [[ $seen == *"this is no pod"* ]] || { printf '%s\n' "$seen" && return 1; }
}
for values in $(values_files); do
  render --values "$values"
  settings
  [ -s "$STAGE/operator.yaml" ] || continue
  check "values $(basename -- "$values" -values.yaml): the operator reads its settings" reads
done
render "${BASE[@]}" --set 'events.skip={Acquired,Skipped}' --set events.perSecond=7
settings
check "the settings contain the values of events" grep -zqF $'events-skip: ["Acquired","Skipped"]\nevents-per-second: 7\n' "$STAGE/operator.yaml"
check "the operator reads them" reads
echo 'imagee: x' >>"$STAGE/operator.yaml"
refuses "control: an unknown key is refused" reads
finish
