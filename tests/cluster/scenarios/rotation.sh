#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The webhook's CA and certificate are rotated while annotated Jobs are made all the time: no admission fails.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/load.sh
source "$ROOT/tests/cluster/load.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

kept() {
  kubectl -n cronlatch get secret cronlatch-webhook-tls -o "jsonpath={.data.${1//./\\.}}" | base64 -d
}
authorities() { kept ca.crt | grep -c BEGIN; }
trusted() {
  kubectl get mutatingwebhookconfiguration cronlatch -o 'jsonpath={.webhooks[*].clientConfig.caBundle}' | tr ' ' '\n' |
    base64 -d
}
# Served by an operator's pod: what an API server that connects now sees.
shown() {
  local address
  for address in $(kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o 'jsonpath={.items[*].status.podIP}'); do
    in_cluster openssl s_client -connect "$address:8443" </dev/null 2>/dev/null | openssl x509 -noout -fingerprint
  done | sort -u
}

cronjob report lock=true -- "echo ran"
start_load report
old=$(kept tls.crt | openssl x509 -noout -fingerprint)
check "all replicas show the kept certificate" [ "$(shown)" = "$old" ]

lose_key() { kubectl -n cronlatch patch secret cronlatch-webhook-tls --patch '{"data":{"ca.key":"bG9zdAo="}}'; }
check "the CA's key is lost: what it signed is good, but a new CA is due" lose_key
two() { [ "$(authorities)" = 2 ] && [ "$(trusted | grep -c BEGIN)" = 4 ]; }
becomes -t 120 "a new CA joins the old one, and both webhooks trust both" two
other() { [ "$(kept tls.crt | openssl x509 -noout -fingerprint)" != "$old" ]; }
becomes -t 180 "later the certificate is one of the new CA" other
new=$(kept tls.crt | openssl x509 -noout -fingerprint)
all_show_it() { [ "$(shown)" = "$new" ]; }
becomes "all replicas show it, without a restart" all_show_it
end_load
check "no admission failed meanwhile" none_failed
check "every Job of it was gated" all_gated
finish
