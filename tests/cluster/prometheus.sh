# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A real Prometheus next to a cluster, and functions that query it. It is a child process of the scenario, in the cluster's
# network. It scrapes the operator's pods as with a PodMonitor, the API server, and a node exporter's folder of metrics
# files. Sourced after lib.sh.

PROMETHEUS_DIR=$(mktemp -d)
PROMETHEUS_PIDS=()
JOBS_TO_SCRAPE=()

# pods_of_operator NAME: adds the scrape job of cluster NAME, which must be the cluster in use; its label `cluster` is NAME.
# Debian's Prometheus is built without Kubernetes discovery, so a child process writes the list of pods every second.
pods_of_operator() {
  local name=$1 file=$PROMETHEUS_DIR/$1.targets.json
  echo '[]' >"$file"
  while :; do
    kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator -o json |
      jq --compact-output --arg cluster "$name" '[.items[] | select(.status.podIP and .status.phase == "Running" and (.metadata.deletionTimestamp | not))
        | {targets: ["\(.status.podIP):8080"], labels: {job: "cronlatch", namespace: "cronlatch", pod: .metadata.name, cluster: $cluster}}]' >"$file.new" &&
      { cmp -s "$file.new" "$file" || mv "$file.new" "$file"; }
    sleep 1
  done 2>/dev/null 9>&- &
  PROMETHEUS_PIDS+=($!)
  JOBS_TO_SCRAPE+=("- {job_name: cronlatch-$name, honor_labels: true, file_sd_configs: [{files: [$file]}]}")
}

# api_server_of NAME: adds the API server of cluster NAME, which must be the cluster in use.
api_server_of() {
  local tls="ca_file: $DIR/pki/ca.crt, cert_file: $DIR/pki/admin.crt, key_file: $DIR/pki/admin.key"
  JOBS_TO_SCRAPE+=("- {job_name: apiserver-$1, scheme: https, tls_config: {$tls}, static_configs: [{targets: ['$NODE_IP:6443'], labels: {cluster: $1}}]}")
}

# textfiles: starts a node exporter whose textfile folder is $PROMETHEUS_DIR/files.
textfiles() {
  local port
  port=$(free_port)
  mkdir -p "$PROMETHEUS_DIR/files"
  in_cluster prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$PROMETHEUS_DIR/files" \
    --web.listen-address="127.0.0.1:$port" >"$PROMETHEUS_DIR/files.log" 2>&1 9>&- &
  PROMETHEUS_PIDS+=($!)
  JOBS_TO_SCRAPE+=("- {job_name: node, honor_labels: true, static_configs: [{targets: ['127.0.0.1:$port']}]}")
}
# publish COMMAND...: replaces the metrics file with the output of the command.
publish() { "$@" >"$PROMETHEUS_DIR/metrics.new" && mv "$PROMETHEUS_DIR/metrics.new" "$PROMETHEUS_DIR/files/cronlatch.prom"; }

# start_prometheus: starts it with the scrape jobs that were added before and the chart's rules. Sets PROMETHEUS, its
# address.
start_prometheus() {
  local port
  port=$(free_port)
  PROMETHEUS=http://127.0.0.1:$port
  { printf 'global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}\n'
    printf 'rule_files: [%s/charts/cronlatch/rules/*.yaml]\nscrape_configs:\n' "$ROOT"
    printf '%s\n' "${JOBS_TO_SCRAPE[@]}"; } >"$PROMETHEUS_DIR/prometheus.yaml"
  in_cluster prometheus --config.file="$PROMETHEUS_DIR/prometheus.yaml" --storage.tsdb.path="$PROMETHEUS_DIR/data" \
    --web.listen-address="127.0.0.1:$port" >"$PROMETHEUS_DIR/prometheus.log" 2>&1 9>&- &
  PROMETHEUS_PIDS+=($!)
}
prometheus_ready() { in_cluster curl -sf "$PROMETHEUS/-/ready" || { tail -n 5 "$PROMETHEUS_DIR/prometheus.log" && return 1; }; }

stop_prometheus() {
  local pid
  for pid in "${PROMETHEUS_PIDS[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait "${PROMETHEUS_PIDS[@]}" 2>/dev/null || true
  rm -rf -- "$PROMETHEUS_DIR"
}

query() { in_cluster python3 -B "$ROOT/tests/view/query.py" "$PROMETHEUS" "$1"; }

# query_is EXPRESSION LINE...: the result consists of exactly these lines, in any order.
query_is() {
  local expr=$1
  shift
  diff <(query "$expr") <(if [ $# -gt 0 ]; then printf '%s\n' "$@" | sort; fi) || { echo "(< actual, > expected) $expr" && return 1; }
}

# lock_stat METRIC [MORE-LABELS]: the expression for a lock statistic of this namespace, the maximum over all exporters.
lock_stat() { echo "max by (namespace, cronjob, lock${2:+, $2}) (cronlatch_$1{namespace=\"$NS\"})"; }
of_jobs() { echo "sum by (cronjob) ($(lock_stat "$1"))"; }
# For each job: acquired = released + stolen + revoked + open. The result is the number of jobs for which this is wrong.
unbalanced_jobs() {
  echo "count($(lock_stat lock_acquired_total) - $(lock_stat lock_released_total) - $(lock_stat lock_stolen_total) - $(lock_stat lock_revoked_total) - $(lock_stat lock_open) != 0) or vector(0)"
}
