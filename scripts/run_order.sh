#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes cmake/run_order.txt anew: the sections whose functions a run calls, as valgrind sees them, over the file store,
# over plaintext Redis and over TLS. Not part of a build; once in a while, after large changes (decision 0016).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"

for tool in valgrind python3; do
  command -v $tool >/dev/null || { echo "run_order: needs $tool" >&2; exit 69; }
done
cd "$ROOT"
configure release
cmake --build build/release --parallel "$JOBS" --target cronlatch >&2
WORK=$(mktemp -d)
trap 'stop_all_redis; rm -rf -- "$WORK"' EXIT

say "link once more, with names and a map"
link=$(ninja -C build/release -t commands cronlatch | tail -n 1)
link=${link// -s -Wl,/ -Wl,-Map,$WORK/map,}
(cd build/release && bash -c "${link/-o cronlatch /-o $WORK/cronlatch }") 2>"$WORK/link.log" || {
  cat "$WORK/link.log" >&2
  exit 1
}

say "look at three runs"
start_redis "$WORK/plain"
plain_port=$REDIS_PORT
make_certificates "$WORK/tls" p256
start_redis "$WORK/tls/redis" --tls-cert-file "$WORK/tls/server.pem" --tls-key-file "$WORK/tls/server.key" \
  --tls-ca-cert-file "$WORK/tls/ca.pem" --tls-auth-clients no
watch_run() {  # watch_run NAME VARIABLE...
  local name=$1 run=("$WORK/cronlatch" run --lock order -- /bin/true)
  shift
  # Before that: the lock that a run finds has been used, and remembers.
  for _ in {1..12}; do env "$@" "${run[@]}" 2>/dev/null; done
  env "$@" valgrind -q --tool=callgrind --dump-instr=yes --dump-line=no --compress-pos=no \
    --callgrind-out-file="$WORK/$name" "${run[@]}"
  # Too slow for a handshake.
  [ "$name" = rediss ] || env "$@" valgrind -q --tool=lackey --trace-mem=yes --log-file="$WORK/$name.reads" "${run[@]}"
}
mkdir "$WORK/state"
watch_run file CRONLATCH_STORE="file://$WORK/state"
watch_run redis CRONLATCH_STORE="redis://127.0.0.1:$plain_port"
watch_run rediss CRONLATCH_STORE="rediss://127.0.0.1:$REDIS_PORT" CRONLATCH_TLS_CA="$WORK/tls/ca.pem"
python3 scripts/run_order.py "$WORK/map" "$WORK"/{file,redis}{,.reads} "$WORK/rediss" >"$WORK/order"
{
  echo '# Written by scripts/run_order.sh: sections with the functions of a run.'
  cat "$WORK/order"
} >cmake/run_order.txt
say "$(grep -c -v '^#' cmake/run_order.txt) sections in cmake/run_order.txt"
