#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench [RUNS]: builds the programs in bench/, starts Redis servers, and measures. The tables on stdout are the
# source of docs/benchmarks.md; the exit code is 1 when a budget is exceeded.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"

what=all
case ${1:-} in
  gate)
    what=gate
    shift
    ;;
  admission | lookup | scrape | watch | pods | queue | peers | start)
    script=$ROOT/scripts/bench_$1.sh
    shift
    exec bash "$script" "$@"
    ;;
esac
RUNS=${1:-120}
case $RUNS in *[!0-9]* | '') echo "usage: ./dev bench [gate] [RUNS] | admission [REVIEWS] | lookup [IMAGES] | scrape [LOCKS] | watch [CRONJOBS] | pods [--api-server] [SECONDS] | queue [ROUNDS] | start [ROUNDS] | peers [RUNS [BLOCKS [WAITERS...]]]" >&2 && exit 64 ;; esac
OUT=$ROOT/build/bench
STAGE=$(mktemp -d)
trap 'stop_all_redis; rm -rf -- "$STAGE"' EXIT

say "build the programs in bench/"
mkdir -p "$OUT"
g++ -std=c++20 -Os -Wall -Wextra -Werror -static -s -o "$OUT/baseline" bench/baseline.cc
g++ -std=c++20 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -static -s -Isrc -o "$OUT/least" bench/least.cc \
  build/release/src/redis_scripts.cc
g++ -std=c++20 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -pthread -o "$OUT/compare" bench/compare.cc \
  bench/relay.cc bench/subject.cc

say "start three Redis servers"
tls_server() {  # tls_server NAME KEY-KIND
  make_certificates "$STAGE/$1" "$2"
  start_redis "$STAGE/$1/redis" --tls-cert-file "$STAGE/$1/server.pem" --tls-key-file "$STAGE/$1/server.key" \
    --tls-ca-cert-file "$STAGE/$1/ca.pem" --tls-auth-clients no
}
start_redis "$STAGE/plain"
plain_port=$REDIS_PORT
tls_server p256 p256
p256_port=$REDIS_PORT
tls_server rsa rsa2048
rsa_port=$REDIS_PORT
mkdir "$STAGE/state"
# The programs are copied before the measurement, as an installation does: the kernel maps the pages of a newly linked
# file more slowly, because they are single pages in its cache.
"$BINARY" install "$STAGE"
cp "$OUT/baseline" "$OUT/least" "$STAGE"
# Version 0.1.0 runs in the same session where it can be built.
earlier=()
if program=$(bash "$ROOT/scripts/baseline.sh" binary); then
  cp "$program" "$STAGE/cronlatch-0.1.0"
  earlier=(earlier="$STAGE/cronlatch-0.1.0")
fi

say "measure $RUNS interleaved runs of each"
status=0
"$OUT/compare" runs="$RUNS" size-limit="$SIZE_LIMIT" binary="$STAGE/cronlatch" baseline="$STAGE/baseline" least="$STAGE/least" state="$STAGE/state" redis="$plain_port" \
  redis-p256="$p256_port" p256="$STAGE/p256" redis-rsa="$rsa_port" rsa="$STAGE/rsa" "${earlier[@]}" || status=$?
[ "$what" = all ] || exit $status
bash "$ROOT/scripts/bench_admission.sh" || status=$?
bash "$ROOT/scripts/bench_lookup.sh" || status=$?
bash "$ROOT/scripts/bench_scrape.sh" || status=$?
bash "$ROOT/scripts/bench_watch.sh" || status=$?
bash "$ROOT/scripts/bench_pods.sh" || status=$?
bash "$ROOT/scripts/bench_pods.sh" --api-server || status=$?
bash "$ROOT/scripts/bench_queue.sh" || status=$?
exit $status
