#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A certificate from a Secret (certificates.mode: existing) is served, verified only by its caBundle, and renewed under load
# without a failed admission and without a restart.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/load.sh
source "$ROOT/tests/cluster/load.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

CERTIFICATES=$DIR/own-certificate
rm -rf -- "$CERTIFICATES"
authority "$CERTIFICATES" "the platform"
authority "$CERTIFICATES/other" "another authority"
store_certificate() {  # store_certificate FILE: creates a certificate with this name and stores it in the Secret
  leaf "$CERTIFICATES/$1" "/CN=webhook $1" "DNS:cronlatch-webhook.cronlatch.svc"
  kubectl -n cronlatch create secret tls webhook-certificate --cert="$CERTIFICATES/$1.crt" --key="$CERTIFICATES/$1.key" \
    --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f - >/dev/null
}
fingerprint() { openssl x509 -noout -fingerprint; }
operators() {
  kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator --field-selector=status.phase=Running \
    -o "jsonpath={range .items[*]}{$1}{\"\\n\"}{end}"
}
# The certificates that the replicas serve to a new connection, without duplicates.
served() {
  local address
  for address in $(kubectl -n cronlatch get endpoints cronlatch-webhook -o 'jsonpath={.subsets[*].addresses[*].ip}' 2>/dev/null); do
    in_cluster openssl s_client -connect "$address:8443" </dev/null 2>/dev/null | fingerprint
  done | sort -u
}
bundles() { kubectl get mutatingwebhookconfiguration cronlatch -o 'jsonpath={.webhooks[*].clientConfig.caBundle}'; }
restore() { set_values >/dev/null && await 60 admitted report >/dev/null; }
trap 'restore; kubectl -n cronlatch delete secret webhook-certificate --ignore-not-found >/dev/null; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

cronjob report lock=true -- "echo ran"
store_certificate first
check "the chart is configured to use it" set_values --set certificates.mode=existing,certificates.existingSecret=webhook-certificate \
  --set-file "certificates.caBundle=$CERTIFICATES/ca.crt"
all_serve() {
  local seen
  seen=$(served)
  printf '%s\n' "$seen"
  [ "$seen" = "$(fingerprint <"$CERTIFICATES/$1.crt")" ]
}
becomes -t 120 "all replicas serve it" all_serve first
wanted=$(base64 -w0 <"$CERTIFICATES/ca.crt")
both_trust() { [ "$(bundles)" = "$wanted $wanted" ]; }
check "both webhooks contain the caBundle of the Secret's CA" both_trust
becomes "an annotated Job is admitted" admitted report
start_job report one
becomes "its Job completes" complete one
check "its Job was gated" outcome_has one '"outcome":"ran"'

pods=$(operators .metadata.name/.status.containerStatuses[0].restartCount)
start_load report
store_certificate second
# A kubelet updates a changed Secret within one or two minutes.
becomes -t 200 "all replicas serve the renewed certificate" all_serve second
end_load
check "no admission failed meanwhile" none_failed
check "every Job of the load was gated" all_gated
check "no pod was restarted" [ "$(operators .metadata.name/.status.containerStatuses[0].restartCount)" = "$pods" ]
check "the caBundle was not changed" both_trust

trust() {  # trust FILE: sets the caBundle of both webhooks
  kubectl patch mutatingwebhookconfiguration cronlatch --type=json -p "[$(for hook in 0 1; do
    printf '{"op":"replace","path":"/webhooks/%s/clientConfig/caBundle","value":"%s"},' "$hook" "$(base64 -w0 <"$1")"
  done | sed 's/,$//')]"
}
refused() { ! admitted report 2>"$CERTIFICATES/refused" && grep -F 'annotated-jobs-need-the-operator.cronlatch.dev' "$CERTIFICATES/refused"; }
check "control: both webhooks get the caBundle of another authority" trust "$CERTIFICATES/other/ca.crt"
becomes "control: annotated Jobs are refused" refused

check "the operator is configured to issue its own certificate again" set_values
becomes "annotated Jobs are admitted again" admitted report
finish
