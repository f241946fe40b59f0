# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A temporary Prometheus that scrapes the textfile collector of a node exporter on loopback, as on a host without
# Kubernetes. For the demo and the tests; stopped by process id. Sourced after scripts/redis.sh.

PROMETHEUS_PIDS=()

prometheus_query() { promtool query instant "$PROMETHEUS" "$1" 2>/dev/null; }
# The collector reports that it read its folder without an error.
prometheus_scrapes() { [[ $(prometheus_query 'node_textfile_scrape_error == 0') == *'=> 0 '* ]]; }
one_is_gone() {
  local pid
  for pid in "${PROMETHEUS_PIDS[@]}"; do ! kill -0 "$pid" 2>/dev/null && return; done
  return 1
}
scrapes_or_one_is_gone() { prometheus_scrapes || one_is_gone; }

# start_prometheus DIR FOLDER [RULE-FILE...]: the Prometheus at $PROMETHEUS scrapes the *.prom files in FOLDER within
# seconds. Fails when it does not; the logs are in DIR.
start_prometheus() {
  local dir=$1 folder=$2 tries files_port port rules
  shift 2
  mkdir -p "$dir"
  rules=$(printf "'%s'," "$@")
  for tries in 1 2 3 4 5; do  # another program may have taken a port meanwhile
    files_port=$(free_port) port=$(free_port)
    cat >"$dir/prometheus.yaml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [$([ $# -eq 0 ] || echo "${rules%,}")]
scrape_configs: [{job_name: node, honor_labels: true, static_configs: [{targets: ['127.0.0.1:$files_port']}]}]
YAML
    prometheus-node-exporter --collector.disable-defaults --collector.textfile \
      --collector.textfile.directory="$folder" --web.listen-address="127.0.0.1:$files_port" >"$dir/exporter.log" 2>&1 &
    PROMETHEUS_PIDS=($!)
    prometheus --config.file="$dir/prometheus.yaml" --storage.tsdb.path="$dir/data-$tries" \
      --web.listen-address="127.0.0.1:$port" >"$dir/prometheus.log" 2>&1 &
    PROMETHEUS_PIDS+=($!)
    PROMETHEUS=http://127.0.0.1:$port
    if wait_until 60 scrapes_or_one_is_gone && prometheus_scrapes && ! one_is_gone; then return; fi
    stop_prometheus
  done
  tail -n 5 "$dir"/*.log >&2
  return 1
}

stop_prometheus() {
  local pid
  for pid in "${PROMETHEUS_PIDS[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  for pid in "${PROMETHEUS_PIDS[@]}"; do wait "$pid" 2>/dev/null || true; done
  PROMETHEUS_PIDS=()
}
