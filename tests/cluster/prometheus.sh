# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A real Prometheus beside a cluster, and how scenarios ask it. It runs on this machine in the cluster's network, as a child of the
# scenario: it scrapes the operator's pods as a PodMonitor would, the API server, and a node exporter's folder of metrics files.
# Sourced after lib.sh.

WATCH=$(mktemp -d)
WATCHERS=()
JOBS_TO_SCRAPE=()

# pods_of_operator NAME: the scrape job of cluster NAME, the one in use: its label `cluster` says so. Debian's Prometheus knows no
# Kubernetes, so a child asks for the pods every second and writes them down.
pods_of_operator() {
  local name=$1 file=$WATCH/$1.targets.json
  echo '[]' >"$file"
  while :; do
    kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o json |
      jq --compact-output --arg cluster "$name" '[.items[] | select(.status.podIP and .status.phase == "Running" and (.metadata.deletionTimestamp | not))
        | {targets: ["\(.status.podIP):8080"], labels: {job: "cronlatch", namespace: "cronlatch", pod: .metadata.name, cluster: $cluster}}]' >"$file.new" &&
      { cmp -s "$file.new" "$file" || mv "$file.new" "$file"; }
    sleep 1
  done 2>/dev/null 9>&- &
  WATCHERS+=($!)
  JOBS_TO_SCRAPE+=("- {job_name: cronlatch-$name, honor_labels: true, file_sd_configs: [{files: [$file]}]}")
}

# api_server_of NAME: the API server of cluster NAME, the one in use.
api_server_of() {
  local tls="ca_file: $DIR/pki/ca.crt, cert_file: $DIR/pki/admin.crt, key_file: $DIR/pki/admin.key"
  JOBS_TO_SCRAPE+=("- {job_name: apiserver-$1, scheme: https, tls_config: {$tls}, static_configs: [{targets: ['$NODE_IP:6443'], labels: {cluster: $1}}]}")
}

# textfiles: a node exporter whose textfile folder is $WATCH/files.
textfiles() {
  local port
  port=$(free_port)
  mkdir -p "$WATCH/files"
  in_cluster prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$WATCH/files" \
    --web.listen-address="127.0.0.1:$port" >"$WATCH/files.log" 2>&1 9>&- &
  WATCHERS+=($!)
  JOBS_TO_SCRAPE+=("- {job_name: node, honor_labels: true, static_configs: [{targets: ['127.0.0.1:$port']}]}")
}
# publish COMMAND...: its output is the metrics file from now on.
publish() { "$@" >"$WATCH/metrics.new" && mv "$WATCH/metrics.new" "$WATCH/files/cronlatch.prom"; }

# watch: starts it, with the scrape jobs that were named before and the chart's rules; PROMETHEUS is its address.
watch() {
  local port
  port=$(free_port)
  PROMETHEUS=http://127.0.0.1:$port
  { printf 'global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}\n'
    printf 'rule_files: [%s/charts/cronlatch/rules/*.yaml]\nscrape_configs:\n' "$ROOT"
    printf '%s\n' "${JOBS_TO_SCRAPE[@]}"; } >"$WATCH/prometheus.yaml"
  in_cluster prometheus --config.file="$WATCH/prometheus.yaml" --storage.tsdb.path="$WATCH/data" \
    --web.listen-address="127.0.0.1:$port" >"$WATCH/prometheus.log" 2>&1 9>&- &
  WATCHERS+=($!)
}
is_watching() { in_cluster curl -sf "$PROMETHEUS/-/ready" || { tail -n 5 "$WATCH/prometheus.log" && return 1; }; }

stop_watching() {
  local pid
  for pid in "${WATCHERS[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait "${WATCHERS[@]}" 2>/dev/null || true
  rm -rf -- "$WATCH"
}

ask() { in_cluster python3 -B "$ROOT/tests/view/query.py" "$PROMETHEUS" "$1"; }

# gives EXPRESSION LINE...: exactly these answers, in any order.
gives() {
  local expr=$1
  shift
  diff <(ask "$expr") <(if [ $# -gt 0 ]; then printf '%s\n' "$@" | sort; fi) || { echo "(< seen, > expected) $expr" && return 1; }
}

# ledger METRIC [MORE-LABELS]: of this scenario's namespace, whoever exports it.
ledger() { echo "max by (namespace, cronjob, lock${2:+, $2}) (cronlatch_$1{namespace=\"$NS\"})"; }
of_jobs() { echo "sum by (cronjob) ($(ledger "$1"))"; }
# The law, for each job: what was granted is released, stolen, revoked, or open. Its answer: how many jobs break it, of how many.
broken_law() {
  echo "count($(ledger lock_acquired_total) - $(ledger lock_released_total) - $(ledger lock_stolen_total) - $(ledger lock_revoked_total) - $(ledger lock_open) != 0) or vector(0)"
}
