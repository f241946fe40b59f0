#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The objects of docs/gitops.md are YAML and name the published chart, and the chart accepts their values. The clusters of
# the tests have no Argo CD, Flux, External Secrets or trust-manager.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=packaging/project.env
source "$ROOT/packaging/project.env"
VERSION=$("$YQ" -r .version "$CHART/Chart.yaml")

# page FILE: the objects of its blocks as one JSON array.
page() { awk '/^```yaml$/ { code = 1; print "---"; next } /^```/ { code = 0 } code' "$1" >"$STAGE/page.yaml" && objects_of "$STAGE/page.yaml"; }
parse() { page "$ROOT/docs/gitops.md" >"$STAGE/objects.json"; }
check "every object is YAML" parse
cp "$STAGE/objects.json" "$STAGE/page.json"
KINDS='["Application", "Bundle", "ClusterExternalSecret", "HelmRelease", "OCIRepository"]'
check "there is one object of each kind" holds "[.[].kind] | sort == $KINDS"
check "each has a name and the version of an API" holds 'all(.[]; (.metadata.name | length > 0) and (.apiVersion | test("^[a-z0-9.-]+/v[0-9a-z]+$")))'

ARGO='one("Application"; "cronlatch").spec'
FLUX='one("HelmRelease"; "cronlatch").spec'
check "Argo CD installs the published chart of this version" holds "$ARGO.source | .repoURL + \"/\" + .chart == \"$REGISTRY/charts/cronlatch\" and .targetRevision == \"$VERSION\""
check "Flux reads the published chart, and its patches of this version" holds "one(\"OCIRepository\"; \"cronlatch\").spec
  | .url == \"oci://$REGISTRY/charts/cronlatch\" and .ref.semver == \"${VERSION%.*}.x\""
check "the HelmRelease names the OCIRepository" holds "$FLUX.chartRef as \$ref | one(\$ref.kind; \$ref.name).metadata.namespace == one(\"HelmRelease\"; \"cronlatch\").metadata.namespace"

# renders FILTER: the chart accepts the values, and the operator has their store.
renders() {
  holds "$1 != null" || return
  jq "def one(\$kind; \$name): map(select(.kind == \$kind and .metadata.name == \$name))[0]; $1" "$STAGE/objects.json" >"$STAGE/values.json"
  chart_template --values "$STAGE/values.json" >"$STAGE/rendered.yaml" && grep -qF "$(jq -r .store.url "$STAGE/values.json")" "$STAGE/rendered.yaml"
}
check "the chart accepts the values of the Application" renders "$ARGO.source.helm.valuesObject"
check "the chart accepts the values of the HelmRelease" renders "$FLUX.values"

value() { "$YQ" -r "$1" "$CHART/values.yaml"; }
check "External Secrets writes the Secret that the chart reads, with keys that it reads" holds "one(\"ClusterExternalSecret\"; \"$(value .store.secretName)\").spec
  | .externalSecretName == \"$(value .store.secretName)\" and .externalSecretSpec.target.name == \"$(value .store.secretName)\"
  and ([.externalSecretSpec.data[].secretKey] - [\"username\", \"password\", \"ca.crt\", \"tls.crt\", \"tls.key\"] == [])"
check "trust-manager writes the key that the chart reads" holds "one(\"Bundle\"; \"store-ca\").spec.target.configMap.key == \"$(value .store.caConfigMapKey)\""

# Controls.
changed() { jq "$1" "$STAGE/page.json" >"$STAGE/objects.json"; }
changed 'map(if .kind == "Application" then .spec.source.helm.valuesObject.store = {address: "a"} else . end)'
refuses "control: values that the chart does not have are found" renders "$ARGO.source.helm.valuesObject"
changed 'map(if .kind == "HelmRelease" then .spec.chartRef.name = "other" else . end)'
refuses "control: a reference to a missing object is found" holds "$FLUX.chartRef as \$ref | one(\$ref.kind; \$ref.name) != null"
printf '%s\n' '```yaml' 'a: {b: c' '```' >"$STAGE/broken.md"
refuses "control: a block that is not YAML is found" page "$STAGE/broken.md"
finish
