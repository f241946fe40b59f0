#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench scrape [LOCKS]: the cost of a scrape of the released operator with lock statistics of that many locks in
# Redis (default 10000), and the resident memory after 100 scrapes. The exit code is 1 when a budget is exceeded: half a
# second for 10,000 locks, 30 series for each lock, memory that does not grow.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"

LOCKS=${1:-10000}
case $LOCKS in *[!0-9]* | '') echo "usage: ./dev bench scrape [LOCKS]" >&2 && exit 64 ;; esac
WRAPPER=${WRAPPER:-$BINARY}
WARM_UP=60
SCRAPES=100
BUDGET_MS=500
GROWTH_PERCENT=5
SERIES_OF_LOCK=30
STAGE=$(mktemp -d)
PID=
end() {
  [ -z "$PID" ] || kill "$PID" 2>/dev/null || true
  stop_all_redis
  rm -rf -- "$STAGE"
}
trap end EXIT

build_operator
[ "$WRAPPER" != "$BINARY" ] || build_preset release

say "start Redis and fill it with $LOCKS locks"
start_redis "$STAGE/redis"
STORE=redis://127.0.0.1:$REDIS_PORT
redis() { redis-cli -s "$STAGE/redis/redis.sock" "$@"; }
"$WRAPPER" run --store "$STORE" --lock sample/job --job sample/job -- true
# Copies of the keys that a run wrote, each with its own lock name and job. Each has also skipped and waited, so that
# every series of a released lock is exported.
redis --eval /dev/stdin 'cronlatch:{sample/job}' 'cronlatch:{sample/job}:stats' cronlatch:index , "$LOCKS" >/dev/null <<'LUA'
local record, stats = redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])
for i = 1, tonumber(ARGV[1]) do
  local name = string.format('team-%02d/report-of-the-night-%05d', i % 50, i)
  redis.call('HSET', 'cronlatch:{' .. name .. '}', unpack(record))
  redis.call('HSET', 'cronlatch:{' .. name .. '}', 'job', name)
  for at = 1, #stats, 2 do
    redis.call('HSET', 'cronlatch:{' .. name .. '}:stats', (stats[at]:gsub('|.*', '|' .. name)), stats[at + 1])
  end
  redis.call('HSET', 'cronlatch:{' .. name .. '}:stats', 'wait_2|' .. name, 3, 'skipped_held|' .. name, 2,
    'last_skip|' .. name, redis.call('TIME')[1] * 1000000)
  redis.call('ZADD', KEYS[3], redis.call('TIME')[1] * 1000000 + i, name)
end
LUA

say "start the operator"
operator_files "$STAGE" "admission-address: 127.0.0.1:0" "plain-address: 127.0.0.1:0" "store: $STORE" "credentials-dir: $STAGE/none"
start_operator "$STAGE" store_read
PORT=$(port_of plain)
scrape() { curl --silent --fail --output "$STAGE/text" --write-out '%{time_total}\n' "http://127.0.0.1:$PORT/metrics"; }

# The heap reaches its final size when a read of the store and a scrape have overlapped, within half a minute. Memory is
# measured after that.
say "three readings and $WARM_UP scrapes, then $SCRAPES scrapes"
readings() { curl --silent "http://127.0.0.1:$PORT/metrics" | sed -nE 's/^cronlatch_store_command_duration_seconds_count\{command="list"\} (.*)$/\1/p'; }
read_thrice() { sleep 2; [ "$(readings)" -ge 3 ]; }  # reading the metric is a scrape, too
wait_until 90 read_thrice
for ((i = 0; i < WARM_UP; ++i)); do scrape >/dev/null; done
series=$(grep -vc '^#' "$STAGE/text")
shown=$(grep -c '^cronlatch_lock_acquired_total{' "$STAGE/text")
bytes=$(stat -c %s "$STAGE/text")
idle=$(resident)
for ((i = 1; i <= SCRAPES; ++i)); do
  scrape >>"$STAGE/times"
  [ "$i" -ne $((SCRAPES / 10)) ] || early=$(resident)
done
late=$(resident)
at() { sort -g "$STAGE/times" | awk -v p="$1" '{ v[NR] = $1 * 1000 } END { i = int(NR * p / 100 + 0.5); printf "%.0f", v[i < 1 ? 1 : i] }'; }
read_ms=$(sed -nE 's/^cronlatch_store_command_duration_seconds_sum\{command="list"\} (.*)$/\1/p' "$STAGE/text")
reads=$(sed -nE 's/^cronlatch_store_command_duration_seconds_count\{command="list"\} (.*)$/\1/p' "$STAGE/text")

awk -v locks="$shown" -v series="$series" -v bytes="$bytes" -v p50="$(at 50)" -v p99="$(at 99)" -v scrapes="$SCRAPES" \
  -v idle="$idle" -v early="$early" -v late="$late" -v peak="$(peak)" -v sum="$read_ms" -v n="$reads" 'BEGIN {
    printf "\n| a scrape of %d locks | |\n|---|---:|\n", locks
    printf "| series | %d |\n| text, MB | %.1f |\n| p50, ms | %d |\n| p99, ms | %d |\n", series, bytes / 1e6, p50, p99
    printf "| reading the lock statistics, in the background, ms | %.0f |\n", 1000 * sum / n
    printf "\n| resident memory, MB | before | after %d | after %d | peak |\n|---|---:|---:|---:|---:|\n", scrapes / 10, scrapes
    printf "| operator | %.0f | %.0f | %.0f | %.0f |\n", idle / 1024, early / 1024, late / 1024, peak / 1024
  }'
status=0
[ "$shown" -ge "$((LOCKS < 10000 ? LOCKS : 10000))" ] || {
  echo "bench: only $shown locks are in the response" >&2
  status=1
}
[ "$series" -le "$((shown * SERIES_OF_LOCK))" ] || {
  echo "bench: $series series for $shown locks, more than $SERIES_OF_LOCK for each" >&2
  status=1
}
[ "$(at 50)" -le "$BUDGET_MS" ] || {
  echo "bench: a scrape takes $(at 50) ms, more than $BUDGET_MS" >&2
  status=1
}
[ "$((late * 100))" -le "$((idle * (100 + GROWTH_PERCENT)))" ] || {
  echo "bench: memory grew from $idle kB to $late kB over $SCRAPES scrapes" >&2
  status=1
}
exit $status
