#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench queue [ROUNDS]: the hand-off of a lock in Redis and in PostgreSQL to the next client with 1, 50 and 500
# clients that wait, compared with a bare BLPOP or NOTIFY and with polling, in one session (default 41 rounds).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

ROUNDS=${1:-41}
case $ROUNDS in *[!0-9]* | '' | 0) echo "usage: ./dev bench queue [ROUNDS]" >&2 && exit 64 ;; esac

say "build bench/queue*.cc"
configure dev
cmake --build build/dev --parallel "$JOBS" --target queue_bench >&2
say "measure $ROUNDS hand-offs of each kind"
build/dev/tests/queue_bench "$ROUNDS"
