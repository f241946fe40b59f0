#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# metrics.auth: token. Metrics and status page need TLS, a token and a right; Prometheus and the plugin have them.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/prometheus.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../prometheus.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted

FILES=$DIR/metrics-token
rm -rf -- "$FILES"
mkdir -p "$FILES"
SERVER=cronlatch-webhook.cronlatch.svc
restore() {
  stop_prometheus
  set_values >/dev/null
  kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1
}
trap restore EXIT
account() { printf '{"kind":"ServiceAccount","name":"%s","namespace":"%s"}' "$1" "$NS"; }
# header_of FILE COMMAND...: writes the header with the token that the command prints. curl reads it from the file.
header_of() { printf 'Authorization: Bearer %s\n' "$("${@:2}")" >"$FILES/$1"; }
# signed_token EXPIRY: a token of the account prometheus that differs from that of the API server by its expiry (seconds
# since 1970), with a signature of the cluster's key. The API server issues no token for less than ten minutes.
encode() { base64 --wrap=0 | tr '+/' '-_' | tr -d '='; }
decode() { tr -- '-_' '+/' | sed 's/$/==/' | base64 --decode --ignore-garbage 2>/dev/null; }
signed_token() {
  local real head claims
  real=$(k create token prometheus)
  head=${real%%.*}
  claims=$(cut -d . -f 2 <<<"$real" | decode | jq -c --argjson expiry "$1" '.exp = $expiry | .iat = $expiry - 3600 | .nbf = .iat' | tr -d '\n' | encode)
  printf '%s.%s.%s\n' "$head" "$claims" "$(printf '%s.%s' "$head" "$claims" | openssl dgst -sha256 -sign "$DIR/pki/accounts.key" -binary | encode)"
}
addresses() {
  kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator --field-selector=status.phase=Running \
    -o 'jsonpath={range .items[*]}{.status.podIP}{"\n"}{end}'
}
# page PATH [CURL-OPTION...]: the status code and the page of one replica.
page() {
  local path=$1 address
  shift
  address=$(addresses | head -n 1)
  in_cluster curl --silent --show-error --cacert "$FILES/ca.crt" --resolve "$SERVER:8444:$address" --write-out '\n%{http_code}\n' "$@" "https://$SERVER:8444$path"
}
code_is() {  # code_is CODE PATH [CURL-OPTION...]
  local seen
  seen=$(page "${@:2}")
  printf '%s\n' "$seen" | tail -n 3
  [ "$(tail -n 1 <<<"$seen")" = "$1" ]
}
plain_code_is() { [ "$(in_cluster curl --silent --output /dev/null --write-out '%{http_code}' "http://$(addresses | head -n 1):8080$2")" = "$1" ]; }

for name in prometheus other on-call; do k create serviceaccount "$name" >/dev/null; done
for name in other on-call; do k create rolebinding "$name" --clusterrole=view --serviceaccount="$NS:$name" >/dev/null; done
check "the chart value metrics.auth is set, and the probes of the new replicas succeed" set_values --set metrics.auth=token \
  --set-json "metrics.readers=[$(account prometheus)]" --set-json "statusReaders=[$(account on-call)]"
# A replica that terminates still has the settings of before.
one_generation() {
  [ -z "$(kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o 'jsonpath={.items[*].metadata.deletionTimestamp}')" ]
}
becomes "only replicas with the new settings run" one_generation
kubectl -n cronlatch get secret cronlatch-webhook-tls -o 'jsonpath={.data.ca\.crt}' | base64 -d >"$FILES/ca.crt"
for name in prometheus other; do header_of "$name" k create token "$name"; done
header_of status kubectl -n cronlatch create token cronlatch-status --audience=status.cronlatch.dev --duration=10m

# ---- the pages ----

check "without a token the metrics are refused" code_is 401 /metrics
check "an account without the right is refused" code_is 403 /metrics --header "@$FILES/other"
metrics_are_read() { page /metrics --header "@$FILES/prometheus" | grep '^cronlatch_build_info'; }
check "the account of Prometheus reads the metrics" metrics_are_read
header_of future signed_token $(($(date +%s) + 600))
header_of past signed_token $(($(date +%s) - 60))
check "a token with another expiry is accepted" code_is 200 /metrics --header "@$FILES/future"
check "an expired token is refused" code_is 401 /metrics --header "@$FILES/past"
check "it has no right to read the status page" code_is 403 /status --header "@$FILES/prometheus"
check "a token for the status page is not accepted in the header" code_is 401 /status --header "@$FILES/status"
login() { in_cluster curl --silent --insecure --header "@$FILES/status" "https://$NODE_IP:6443/api" | grep '"code": 401'; }
check "it is no login at the API server" login
check "the plain port still answers the probes" plain_code_is 200 /readyz
check "the plain port has no metrics" plain_code_is 404 /metrics
check "the plain port has no status page" plain_code_is 404 /status

# ---- Prometheus ----

targets() { addresses | jq --raw-input --slurp --compact-output '[{targets: (split("\n") | map(select(. != "") + ":8444"))}]'; }
targets >"$PROMETHEUS_DIR/protected.json"
sed 's/^Authorization: Bearer //' "$FILES/prometheus" >"$FILES/token"
JOBS_TO_SCRAPE+=("- {job_name: protected, honor_labels: true, scheme: https, authorization: {credentials_file: $FILES/token},
   tls_config: {ca_file: $FILES/ca.crt, server_name: $SERVER}, file_sd_configs: [{files: [$PROMETHEUS_DIR/protected.json]}]}")
start_prometheus
needs "a Prometheus runs" prometheus_ready
replicas=$(addresses | wc -l)
scraped() { query_is 'sum(up{job="protected"}) or vector(0)' "$1"; }
becomes "a real Prometheus scrapes each replica" scraped "$replicas"

# ---- the plugin ----

plugin() { in_cluster env KUBECONFIG="$ADMIN" PATH="${PLUGIN%/*}:$TOOLS:$PATH" kubectl cronlatch "$@" -n "$NS"; }
as() { echo "--as=system:serviceaccount:$NS:$1"; }
holder_is() {  # holder_is HOLDER OPTION...
  local seen
  seen=$(plugin ls -o json "${@:2}")
  printf '%s\n' "$seen" | jq '{caution, holder: .cronjobs[].holder}'
  [ "$(jq -r '[.caution, .cronjobs[].holder] | @tsv' <<<"$seen")" = $'\t'"$1" ]
}
cronjob nightly lock=true -- "$HOLD"
becomes "the webhook admits Jobs" admitted nightly
start_job nightly holder
needs "a run holds its lock" holds holder
becomes "the plugin of an administrator reads the status page" holder_is "$NS/$(pod_of holder)"
# The Service may select another replica, which reads the store at its own times.
becomes "so does that of a status reader, who cannot list Services" holder_is "$NS/$(pod_of holder)" "$(as on-call)"
no_state() { plugin ls "$(as other)" 2>&1 | grep -F "no live lock state"; }
check "that of another user reports that it has no live lock state" no_state
logs() { kubectl -n cronlatch logs -l app.kubernetes.io/component=operator --tail=-1 --prefix; }
check "no log contains a token" lacks eyJ logs
client_is_logged() { logs | grep -F '"event":"admission_client"' | grep -F "\"address\":"; }
check "the operator logs the address of the API server" client_is_logged

# ---- a client with invalid tokens ----

token_reviews() { kubectl get --raw /metrics | awk '/^apiserver_request_total\{.*resource="tokenreviews"/ { sum += $NF } END { print sum + 0 }'; }
# flood NUMBER: sends so many different tokens to one replica. The operator reviews 75 per minute of one client.
flood() {
  local address number before start refused limited allowed reviews
  address=$(addresses | head -n 1)
  for ((number = 1; number <= $1; ++number)); do
    printf 'url = "https://%s:8444/metrics"\nheader = "Authorization: Bearer unknown-%d"\n' "$address" "$number"
    printf 'insecure\nsilent\noutput = /dev/null\nwrite-out = "%%{http_code}\\n"\nnext\n'
  done >"$FILES/flood"
  before=$(token_reviews)
  start=$SECONDS
  in_cluster curl --config "$FILES/flood" >"$FILES/codes"
  allowed=$((77 + (SECONDS - start) * 75 / 60))
  reviews=$(($(token_reviews) - before))
  refused=$(grep -c '^401$' "$FILES/codes")
  limited=$(grep -c '^503$' "$FILES/codes")
  echo "401: $refused, 503: $limited, of $1 in $((SECONDS - start)) s; TokenReviews: $reviews"
  [ $((refused + limited)) = "$1" ] && [ "$limited" -gt 0 ] && [ "$refused" -le "$allowed" ] && [ "$reviews" -le $((allowed + 20)) ]
}
check "a client with 300 invalid tokens causes at most 75 reviews per minute" flood 300
check "an account that was allowed before reads the metrics meanwhile" metrics_are_read

# ---- a right that is removed ----

check "the right of Prometheus is removed" kubectl delete clusterrolebinding cronlatch-metrics-reader
becomes -t 150 "its scrapes are refused within about a minute" scraped 0
becomes "the metrics are refused" code_is 403 /metrics --header "@$FILES/prometheus"
end_command holder
becomes "the run completes" complete holder

check "the default is restored" set_values
becomes "only replicas of the default run" one_generation
cronjob_is_free() { [ "$(plugin ls -o json | jq -r '[.caution, .cronjobs[].state] | @tsv')" = $'\t'free ]; }
becomes "the plugin reads the page without a token" cronjob_is_free
finish
