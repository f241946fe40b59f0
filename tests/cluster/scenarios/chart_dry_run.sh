#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The API server accepts, in a dry run, what the chart renders for every set of values in its ci folder.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# The CRDs of other operators are not installed here.
FOREIGN='monitoring.coreos.com|cert-manager.io|grafana.integreatly.org'

# The chart finds the version of this API in a cluster; `helm template` does not ask one.
SERVED=()
if serves_policies v1beta1 && ! serves_policies v1; then
  SERVED=(--api-versions admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy)
elif ! serves_policies v1; then
  FOREIGN+='|kind: MutatingAdmissionPolicy'
fi

# Splits the text into documents and removes those of other operators.
known_only() { awk -v RS='\n---\n' -v ORS='\n---\n' -v foreign="$FOREIGN" '$0 !~ foreign'; }
accepted() {
  # Some values contain namespaces that do not exist here.
  helm template "$NS" "$ROOT/charts/cronlatch" --kube-version 1.30.0 "${SERVED[@]}" --namespace "$NS" --values "$1" | known_only |
    sed -E "s/^( *namespace:) .*/\1 $NS/" |
    kubectl apply --dry-run=server --namespace "$NS" -f - 2>&1
}
for values in "$ROOT"/charts/cronlatch/ci/*-values.yaml; do
  check "$(basename -- "$values") is accepted" accepted "$values"
done
finish
