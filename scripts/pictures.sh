#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev pictures [FOLDER]: draws the pictures of docs/dashboards.md (default docs/img). The samples of one day are
# simulated (scripts/pictures); everything else is real: a Prometheus stores them, computes the recording rules of the
# chart, and answers the queries of the dashboards. The same tree gives the same pictures.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
MIDNIGHT=1772496000  # 2026-03-03 00:00 UTC, a Tuesday
FOLDER=$(realpath -m -- "${1:-$ROOT/docs/img}")
STAGE=$(mktemp -d)
PID=''
stop() {
  [ -z "$PID" ] || { kill -9 "$PID" && wait "$PID"; } 2>/dev/null || true
  PID=''
}
trap 'stop; rm -rf -- "$STAGE"' EXIT

ready() { promtool query instant "$PROMETHEUS" 'vector(1)' >/dev/null 2>&1; }
ready_or_gone() { ready || ! kill -0 "$PID" 2>/dev/null; }
# The blocks are older than the default retention.
serve() {
  local port tries
  for tries in 1 2 3 4 5; do  # another program may have taken the port meanwhile
    port=$(free_port)
    PROMETHEUS=http://127.0.0.1:$port
    prometheus --config.file="$STAGE/prometheus.yaml" --storage.tsdb.path="$STAGE/data" --storage.tsdb.retention.time=20y \
      --web.listen-address="127.0.0.1:$port" >"$STAGE/prometheus.log" 2>&1 &
    PID=$!
    if wait_until 60 ready_or_gone && ready; then return; fi
    stop
  done
  tail -n 5 "$STAGE/prometheus.log" >&2
  return 1
}

echo '{}' >"$STAGE/prometheus.yaml"
say "samples of one day"
python3 -B "$ROOT/scripts/pictures/samples.py" $MIDNIGHT >"$STAGE/samples.txt"
promtool tsdb create-blocks-from openmetrics --quiet "$STAGE/samples.txt" "$STAGE/data"
say "recording rules"
serve
promtool tsdb create-blocks-from rules --url="$PROMETHEUS" --start=$((MIDNIGHT - 3600)) --end=$((MIDNIGHT + 86400)) --eval-interval=60s \
  --output-dir="$STAGE/data" "$ROOT/charts/cronlatch/rules/recording.yaml" 2>"$STAGE/rules.log" || { tail -n 5 "$STAGE/rules.log" >&2 && exit 1; }
stop
say "pictures"
serve
SCRAPE=60 END=$((MIDNIGHT + 86400)) python3 -B "$ROOT/tests/view/render.py" "$PROMETHEUS" 86400 "$FOLDER"
