#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A certificate that the platform brings in a Secret: served, trusted by its caBundle alone, and renewed under load without a
# failed admission and without a restart.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/load.sh
source "$ROOT/tests/cluster/load.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

OURS=$DIR/own-certificate
rm -rf -- "$OURS"
authority "$OURS" "the platform"
authority "$OURS/stranger" "somebody else"
bring() {  # bring FILE: a leaf of that name becomes the Secret's content
  leaf "$OURS/$1" "/CN=webhook $1" "DNS:cronlatch-webhook.cronlatch.svc"
  kubectl -n cronlatch create secret tls webhook-certificate --cert="$OURS/$1.crt" --key="$OURS/$1.key" \
    --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f - >/dev/null
}
fingerprint() { openssl x509 -noout -fingerprint; }
# shellcheck disable=SC2119,SC2120  # without options it is as it was
install_with() {
  helm upgrade cronlatch "$ROOT/charts/cronlatch" --namespace cronlatch --values "$DIR/values.yaml" --wait --timeout 3m "$@"
}
operators() {
  kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator --field-selector=status.phase=Running \
    -o "jsonpath={range .items[*]}{$1}{\"\\n\"}{end}"
}
# What an API server that connects now sees, from each replica that is asked.
shown() {
  local address
  for address in $(kubectl -n cronlatch get endpoints cronlatch-webhook -o 'jsonpath={.subsets[*].addresses[*].ip}' 2>/dev/null); do
    in_cluster openssl s_client -connect "$address:8443" </dev/null 2>/dev/null | fingerprint
  done | sort -u
}
bundles() { kubectl get mutatingwebhookconfiguration cronlatch -o 'jsonpath={.webhooks[*].clientConfig.caBundle}'; }
back() { install_with >/dev/null && await 60 admitted report >/dev/null; }
trap 'back; kubectl -n cronlatch delete secret webhook-certificate --ignore-not-found >/dev/null; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT

cronjob report lock=true -- "echo ran"
bring first
check "the chart is told of it" install_with --set certificates.mode=existing,certificates.existingSecret=webhook-certificate \
  --set-file "certificates.caBundle=$OURS/ca.crt"
all_show() {
  local seen
  seen=$(shown)
  printf '%s\n' "$seen"
  [ "$seen" = "$(fingerprint <"$OURS/$1.crt")" ]
}
becomes -t 120 "all replicas show it" all_show first
wanted=$(base64 -w0 <"$OURS/ca.crt")
both_trust() { [ "$(bundles)" = "$wanted $wanted" ]; }
check "both hooks trust the platform's authority" both_trust
becomes "an annotated Job is admitted" admitted report
start_job report one
becomes "and completes" complete one
check "gated" outcome_has one '"outcome":"ran"'

pods=$(operators .metadata.name/.status.containerStatuses[0].restartCount)
start_load report
bring second
# Kubelets bring a changed Secret within a minute or two.
becomes -t 200 "a renewed certificate is shown by all" all_show second
end_load
check "no admission failed meanwhile" none_failed
check "every Job of it was gated" all_gated
check "no pod was restarted for it" [ "$(operators .metadata.name/.status.containerStatuses[0].restartCount)" = "$pods" ]
check "nobody else wrote the trusted authority" both_trust

trust() {  # trust FILE: both hooks
  kubectl patch mutatingwebhookconfiguration cronlatch --type=json -p "[$(for hook in 0 1; do
    printf '{"op":"replace","path":"/webhooks/%s/clientConfig/caBundle","value":"%s"},' "$hook" "$(base64 -w0 <"$1")"
  done | sed 's/,$//')]"
}
refused() { ! admitted report 2>"$OURS/refused" && grep -F 'annotated-jobs-need-the-operator.cronlatch.dev' "$OURS/refused"; }
check "control: both hooks are told to trust somebody else" trust "$OURS/stranger/ca.crt"
becomes "control: annotated Jobs are refused then" refused

check "back to a certificate of the operator's own" install_with
becomes "annotated Jobs are admitted again" admitted report
finish
