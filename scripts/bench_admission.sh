#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench admission [REVIEWS]: the cost of an admission in the released operator. The baseline is measured in the
# same run, interleaved: the same bytes over the same TLS connections to a path without a handler (404), so that the
# difference is the review. Ratios can be compared between machines; absolute figures cannot.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/bench_operator.sh
source "$ROOT/scripts/bench_operator.sh"

REVIEWS=${1:-100000}
case $REVIEWS in *[!0-9]* | '') echo "usage: ./dev bench admission [REVIEWS]" >&2 && exit 64 ;; esac
ROUNDS=${ROUNDS:-3}
STAGE=$(mktemp -d)
PID=
end() {
  [ -z "$PID" ] || kill "$PID" 2>/dev/null || true
  rm -rf -- "$STAGE"
}
trap end EXIT

build_operator
build_load

say "start the operator"
operator_files "$STAGE" "admission-address: 127.0.0.1:0" "plain-address: 127.0.0.1:0" "store: rediss://redis.example:6379"
start_operator "$STAGE" listening
PORT=$(port_of admission)

review() { load body="$ROOT/bench/job_review.json" path=/admit/job "$@"; }
nothing() { load body="$ROOT/bench/job_review.json" path=/nothing status=404 "$@"; }

idle=$(resident)
say "maximum rate and 100 per second, $ROUNDS interleaved rounds"
for ((round = 0; round < ROUNDS; ++round)); do
  nothing seconds=2 >>"$STAGE/nothing"
  review seconds=2 >>"$STAGE/review"
  nothing seconds=4 rate=100 >>"$STAGE/nothing-slow"
  review seconds=4 rate=100 >>"$STAGE/review-slow"
done
say "$REVIEWS reviews, for the resident memory"
review count=$((REVIEWS / 10)) >>"$STAGE/memory"
early=$(resident)
review count=$((REVIEWS - REVIEWS / 10)) >>"$STAGE/memory"
late=$(resident)

wrong=$(wrong_answers "$STAGE"/{nothing,review}* "$STAGE/memory")
awk -v n="$(median 3 "$STAGE/nothing")" -v r="$(median 3 "$STAGE/review")" \
  -v n50="$(median 4 "$STAGE/nothing-slow")" -v r50="$(median 4 "$STAGE/review-slow")" \
  -v n99="$(median 5 "$STAGE/nothing-slow")" -v r99="$(median 5 "$STAGE/review-slow")" \
  -v idle="$idle" -v early="$early" -v late="$late" -v reviews="$REVIEWS" -v bytes="$(stat -c %s bench/job_review.json)" '
  BEGIN {
    printf "\n| a review of %d bytes, TLS keep-alive, 4 connections | no review (404) | review | ratio |\n", bytes
    print "|---|---:|---:|---:|"
    printf "| CPU of the operator, us per request | %.0f | %.0f | %.2f |\n", n, r, r / n
    printf "| answers per CPU second | %.0f | %.0f | %.2f |\n", 1e6 / n, 1e6 / r, n / r
    printf "| p50 at 100/s, us | %d | %d | %.2f |\n", n50, r50, r50 / n50
    printf "| p99 at 100/s, us | %d | %d | %.2f |\n", n99, r99, r99 / n99
    printf "\n| resident memory, kB | idle | after %d more reviews | after %d |\n|---|---:|---:|---:|\n", reviews / 10, reviews
    printf "| operator | %d | %d | %d |\n", idle, early, late
  }'
[ "$wrong" -eq 0 ] || {
  echo "bench: $wrong responses had an unexpected status" >&2
  exit 1
}
