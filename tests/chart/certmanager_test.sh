#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The objects for cert-manager match its documentation (cert-manager.io/docs/reference/api-docs, v1;
# concepts/ca-injector): documented fields with valid values, and a chain of references from the webhook to the Secret
# that the operator mounts.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# "2160h" or "1h30m", in seconds.
SECONDS_OF='def seconds: [scan("([0-9.]+)(h|m|s)") | (.[0] | tonumber) * {h: 3600, m: 60, s: 1}[.[1]]] | add;'
FIELDS='def known($o; $names): ($o | keys) - $names == [];'
CERTIFICATES='[.[] | select(.kind == "Certificate")]'
RIGHT_FIELDS='all(.[] | select(.apiVersion == "cert-manager.io/v1"); .metadata.namespace == "cronlatch")
  and ('"$CERTIFICATES"' | length > 0 and all(.[].spec;
    known(.; ["secretName", "issuerRef", "commonName", "dnsNames", "duration", "renewBefore", "isCA", "privateKey", "usages"])
    and (.secretName | length > 0) and known(.issuerRef; ["name", "kind", "group"])
    and (.issuerRef.kind | IN("Issuer", "ClusterIssuer")) and (.issuerRef.name | length > 0)
    and known(.privateKey; ["algorithm", "size", "rotationPolicy", "encoding"])
    and .privateKey.algorithm == "ECDSA" and (.privateKey.size | IN(256, 384, 521))
    and (.privateKey.rotationPolicy // "Never" | IN("Never", "Always"))
    and ((.usages // []) - ["signing", "digital signature", "key encipherment", "cert sign", "server auth", "client auth"] == [])
    and ((.isCA // false) or ((.dnsNames // []) | length > 0))
    and ((.duration // "2160h" | seconds) as $lasts | $lasts >= 3600
      and ((.renewBefore // "5m" | seconds) as $before | $before >= 300 and $before < $lasts))))
  and all(.[] | select(.kind == "Issuer"); known(.spec; ["selfSigned", "ca"]) and (.spec | length == 1))'
CHAIN='one("MutatingWebhookConfiguration"; "cronlatch") as $hooks
  | ($hooks.metadata.annotations["cert-manager.io/inject-ca-from"] | split("/")) as $from
  | [.[] | select(.kind == "Certificate" and .metadata.namespace == $from[0] and .metadata.name == $from[1])] as $named
  | ($named | length == 1) and ($named[0].spec as $leaf
    | ([one("Deployment"; "cronlatch-operator").spec.template.spec.volumes[].projected.sources[]?.secret
        | select(.name == $leaf.secretName).items[].key] == ["tls.crt", "tls.key"])
    and ($leaf.usages | index("server auth") != null) and ($leaf.privateKey.rotationPolicy == "Always")
    and all($hooks.webhooks[].clientConfig; has("caBundle") | not)
    and all($hooks.webhooks[].clientConfig.service; "\(.name).\(.namespace).svc" as $name | $leaf.dnsNames | index($name) != null))'
# With the CA of the chart: leaf -> CA issuer -> its Secret -> CA certificate -> self-signed issuer.
OWN_CA='one("Certificate"; "cronlatch-webhook").spec.issuerRef as $leaf
  | one("Issuer"; $leaf.name).spec.ca.secretName as $secret
  | [.[] | select(.kind == "Certificate" and .spec.secretName == $secret)] as $ca
  | ($ca | length == 1) and $ca[0].spec.isCA and ($ca[0].spec.commonName | length > 0 and length <= 64)
  and (one("Issuer"; $ca[0].spec.issuerRef.name).spec | has("selfSigned"))
  and $leaf.kind == "Issuer" and $leaf.group == "cert-manager.io"'

render --values "$CHART/ci/certmanager-values.yaml"
check "only documented fields, with valid values" holds "$SECONDS_OF $FIELDS $RIGHT_FIELDS"
check "the injector's annotation names a Certificate with the mounted Secret and the webhook's names; caBundle is not rendered" holds "$CHAIN"
check "the chain of the chart's CA is complete" holds "$OWN_CA"
cp "$STAGE/objects.json" "$STAGE/own.json"

render --values "$CHART/ci/issuer-values.yaml"
check "an existing issuer: only documented fields" holds "$SECONDS_OF $FIELDS $RIGHT_FIELDS"
check "an existing issuer: the same chain, and no Issuer is rendered" holds "($CHAIN) and all(.[]; .kind != \"Issuer\")"
render --values "$CHART/ci/certmanager-values.yaml" --set fullnameOverride=latch
check "another fullname: the injector's annotation names the Certificate with that name" holds '
  one("MutatingWebhookConfiguration"; "latch").metadata.annotations["cert-manager.io/inject-ca-from"] == "cronlatch/latch-webhook"
  and (one("Certificate"; "latch-webhook").spec.dnsNames | index("latch-webhook.cronlatch.svc") != null)'

changed() {  # changed JQ-CHANGE FILTER
  jq "map($1)" "$STAGE/own.json" >"$STAGE/objects.json" && holds "$2"
}
refuses "control: an undocumented field is found" \
  changed 'if .kind == "Certificate" then .spec.secret = "x" else . end' "$SECONDS_OF $FIELDS $RIGHT_FIELDS"
refuses "control: a renewal after the expiry is found" \
  changed 'if .metadata.name == "cronlatch-webhook" and .kind == "Certificate" then .spec.renewBefore = "9999h" else . end' "$SECONDS_OF $FIELDS $RIGHT_FIELDS"
refuses "control: a wrong annotation of the injector is found" \
  changed 'if .kind == "MutatingWebhookConfiguration" then .metadata.annotations["cert-manager.io/inject-ca-from"] = "cronlatch/other" else . end' "$CHAIN"
refuses "control: a certificate for another service is found" \
  changed 'if .kind == "Certificate" and .spec.dnsNames then .spec.dnsNames = ["other.cronlatch.svc"] else . end' "$CHAIN"
refuses "control: an issuer without its CA is found" \
  changed 'if .kind == "Issuer" and .spec.ca then .spec.ca.secretName = "other" else . end' "$OWN_CA"
finish
