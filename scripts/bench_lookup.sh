#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench lookup [IMAGES]: the cost of an admission of a Job without a command, when the command of its image is in
# the cache. The baseline is the same Job with its command, in the same run, interleaved. Then that many images are
# looked up (default 10000) and their memory is measured. The operator's own client reads them from a registry with TLS.
# The exit code is 1 when the budget is exceeded: 1.1 times the CPU.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"  # its certificates
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"

TAGS=${1:-10000}
case $TAGS in *[!0-9]* | '' | 0) echo "usage: ./dev bench lookup [IMAGES]" >&2 && exit 64 ;; esac
IMAGES=${IMAGES:-$(((TAGS + 9) / 10))}  # different images: each requires a second request to the registry
ROUNDS=${ROUNDS:-5}
BUDGET=1.10
COMMAND='"/usr/bin/python3","-m","reporting.nightly"'  # of bench/job_review.json
STAGE=$(mktemp -d)
PID=
REGISTRY_PID=
end() {
  [ -z "$PID" ] || kill "$PID" 2>/dev/null || true
  [ -z "$REGISTRY_PID" ] || kill "$REGISTRY_PID" 2>/dev/null || true
  rm -rf -- "$STAGE"
}
trap end EXIT

build_operator
build_load

say "start a registry with $TAGS tags of $IMAGES images"
make_certificates "$STAGE"
python3 "$ROOT/bench/registry_images.py" "$STAGE/images" bench/report "$TAGS" "$IMAGES"
cat >"$STAGE/registry.yml" <<YAML
version: 0.1
log: {level: info, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $STAGE/images}}
http: {addr: "127.0.0.1:0", tls: {certificate: $STAGE/server.pem, key: $STAGE/server.key}}
YAML
OTEL_TRACES_EXPORTER=none docker-registry serve "$STAGE/registry.yml" >"$STAGE/registry.log" 2>&1 &
REGISTRY_PID=$!
wait_until 20 grep -q 'listening on' "$STAGE/registry.log" || {
  cat "$STAGE/registry.log" >&2
  exit 1
}
REGISTRY=$(sed -nE 's/.*listening on (127\.0\.0\.1:[0-9]+).*/\1/p' "$STAGE/registry.log")

say "start the operator"
operator_files "$STAGE" "admission-address: 127.0.0.1:0" "plain-address: 127.0.0.1:0" "store: rediss://redis.example:6379" \
  "lookup: true" "lookup-registries: [\"$REGISTRY\"]" "lookup-ca-file: $STAGE/ca.pem" "lookup-cache-size: $TAGS"
start_operator "$STAGE" listening
PORT=$(port_of admission)

sed -E 's|"image":"[^"]*"|"image":"'"$REGISTRY"'/bench/report:000000"|' "$ROOT/bench/job_review.json" >"$STAGE/named.json"
sed -E 's|"command":\[[^]]*\],||' "$STAGE/named.json" >"$STAGE/unnamed.json"
sed 's|report:000000"|report:NUMBER"|' "$STAGE/unnamed.json" >"$STAGE/each.json"
review() {  # review BODY WORD...
  local body=$1
  shift
  load path=/admit/job body="$STAGE/$body.json" "$@"
}
metric() { curl --silent "http://127.0.0.1:$(port_of plain)/metrics" | awk -v m="$1" '$1 == m { print $2; n = 1 } END { if (!n) print 0 }'; }
looked_up() { metric "cronlatch_entrypoint_lookups_total{result=\"$1\"}"; }
gates() {  # the response puts the wrapper before the command
  curl --silent --insecure --header 'Content-Type: application/json' --data-binary "@$STAGE/$1.json" \
    "https://127.0.0.1:$PORT/admit/job" | jq -r .response.patch | base64 -d 2>/dev/null | grep -qF -- "\"--\",$COMMAND]"
}
for body in named unnamed; do
  wait_until 30 gates $body || {
    echo "bench: the operator does not gate the Job of $body.json:" >&2
    tail -n 5 "$STAGE/log" >&2
    exit 1
  }
done

say "maximum rate and 100 per second, $ROUNDS interleaved rounds"
before=$(looked_up cache)
for ((round = 0; round < ROUNDS; ++round)); do
  for body in named unnamed; do review $body seconds=2 >>"$STAGE/fast-$body"; done
  for body in named unnamed; do review $body seconds=4 rate=100 >>"$STAGE/slow-$body"; done
done
requests=$(awk '{ sum += $1 } END { print sum }' "$STAGE/fast-unnamed" "$STAGE/slow-unnamed")
remembered=$(($(looked_up cache) - before))
one=$(resident)

say "look up $TAGS tags, each twice"
SECONDS=0
review each count="$TAGS" >>"$STAGE/first"
all_looked_up() { [ "$(metric cronlatch_entrypoint_lookup_duration_seconds_count)" -ge "$TAGS" ]; }
wait_until 120 all_looked_up || true  # on a loaded machine some reviews may be answered before their lookup ends
took=$SECONDS
before=$(looked_up cache)
review each count="$TAGS" >>"$STAGE/again"
again=$(($(looked_up cache) - before))
many=$(resident)

awk -v c="$(median 3 "$STAGE/fast-named")" -v u="$(median 3 "$STAGE/fast-unnamed")" \
  -v c50="$(median 4 "$STAGE/slow-named")" -v u50="$(median 4 "$STAGE/slow-unnamed")" \
  -v c99="$(median 5 "$STAGE/slow-named")" -v u99="$(median 5 "$STAGE/slow-unnamed")" \
  -v tags="$TAGS" -v images="$IMAGES" -v one="$one" -v many="$many" -v peak="$(peak)" -v took="$took" -v budget="$BUDGET" 'BEGIN {
    print "\n| an admission, TLS keep-alive, 4 connections | with `command` | command of the image, cached | ratio | at most |"
    print "|---|---:|---:|---:|---:|"
    printf "| CPU of the operator, us per request | %.0f | %.0f | %.2f | %s |\n", c, u, u / c, budget
    printf "| p50 at 100/s, us | %d | %d | %.2f | |\n", c50, u50, u50 / c50
    printf "| p99 at 100/s, us | %d | %d | %.2f | |\n", c99, u99, u99 / c99
    printf "\n| resident memory, kB | 1 image cached | %d tags of %d images | per tag | peak |\n|---|---:|---:|---:|---:|\n", tags, images
    printf "| operator | %d | %d | %.2f | %d |\n", one, many, (many - one) / tags, peak
    printf "\n%d lookups took %d s, %.0f ms each.\n", tags, took, took * 1000 / tags
  }'
status=0
miss() {
  echo "bench: $*" >&2
  status=1
}
[ "$(wrong_answers "$STAGE"/{fast,slow}-* "$STAGE"/{first,again})" -eq 0 ] || miss "some responses had an unexpected status"
[ "$remembered" -ge "$requests" ] || miss "only $remembered of $requests reviews found the command in the cache"
[ "$again" -ge "$TAGS" ] || miss "only $again of $TAGS tags were in the cache"
awk -v c="$(median 3 "$STAGE/fast-named")" -v u="$(median 3 "$STAGE/fast-unnamed")" -v budget="$BUDGET" 'BEGIN { exit u > c * budget }' ||
  miss "a cached command costs more than $BUDGET times the CPU of a command in the Job"
exit $status
