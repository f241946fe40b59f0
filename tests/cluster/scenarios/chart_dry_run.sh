#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever the chart renders, for every set of values in its ci folder, is accepted by the API server in a dry run.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

# Kinds that only a foreign operator's CRDs bring are not known here.
FOREIGN='monitoring.coreos.com|cert-manager.io|grafana.integreatly.org'

# Split into documents, without foreign ones.
known_only() { awk -v RS='\n---\n' -v ORS='\n---\n' -v foreign="$FOREIGN" '$0 !~ foreign'; }
accepted() {
  # Some values name namespaces of their own, which are not here.
  helm template "$NS" "$ROOT/charts/cronlatch" --kube-version 1.30.0 --namespace "$NS" --values "$1" | known_only |
    sed -E "s/^( *namespace:) .*/\1 $NS/" |
    kubectl apply --dry-run=server --namespace "$NS" -f - 2>&1
}
for values in "$ROOT"/charts/cronlatch/ci/*-values.yaml; do
  check "$(basename -- "$values") is accepted" accepted "$values"
done
finish
