#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The webhook's CA and certificate are rotated, after a lost key and after a lost Secret, while annotated Jobs are created
# continuously: no admission fails.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/load.sh
source "$ROOT/tests/cluster/load.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

stored() {
  kubectl -n cronlatch get secret cronlatch-webhook-tls -o "jsonpath={.data.${1//./\\.}}" | base64 -d
}
authorities() { stored ca.crt | grep -c BEGIN; }
trusted() {
  kubectl get mutatingwebhookconfiguration cronlatch -o 'jsonpath={.webhooks[*].clientConfig.caBundle}' | tr ' ' '\n' |
    base64 -d
}
# The certificates that the operator's pods serve to a new connection, without duplicates.
served() {
  local address
  for address in $(kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o 'jsonpath={.items[*].status.podIP}'); do
    in_cluster openssl s_client -connect "$address:8443" </dev/null 2>/dev/null | openssl x509 -noout -fingerprint
  done | sort -u
}

cronjob report lock=true -- "echo ran"
start_load report
old=$(stored tls.crt | openssl x509 -noout -fingerprint)
check "all replicas serve the stored certificate" [ "$(served)" = "$old" ]

lose_key() { kubectl -n cronlatch patch secret cronlatch-webhook-tls --patch '{"data":{"ca.key":"bG9zdAo="}}'; }
check "the CA's key is overwritten: its certificates stay valid, but a new CA is necessary" lose_key
two() { [ "$(authorities)" = 2 ] && [ "$(trusted | grep -c BEGIN)" = 4 ]; }
becomes -t 120 "a new CA is added to the old one, and both webhooks trust both" two
other() { [ "$(stored tls.crt | openssl x509 -noout -fingerprint)" != "$old" ]; }
becomes -t 180 "the certificate is replaced by one of the new CA" other
new=$(stored tls.crt | openssl x509 -noout -fingerprint)
all_serve_it() { [ "$(served)" = "$new" ]; }
becomes "all replicas serve it" all_serve_it

lose_secret() { kubectl -n cronlatch delete secret cronlatch-webhook-tls; }
check "the Secret is deleted" lose_secret
three() { [ "$(authorities)" = 3 ] && [ "$(trusted | grep -c BEGIN)" = 6 ]; }
becomes -t 120 "the operator creates it again: a new CA beside those that clients may have" three
check "helm upgrade accepts the Secret" set_values  # no other value: the operator is not restarted beside other scenarios
old=$new
becomes -t 240 "the certificate is replaced by one of the new CA" other
new=$(stored tls.crt | openssl x509 -noout -fingerprint)
becomes "all replicas serve it" all_serve_it
end_load
check "no admission failed meanwhile" none_failed
check "every Job of the load was gated" all_gated
finish
