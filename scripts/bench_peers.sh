#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench peers [RUNS [BLOCKS [WAITERS...]]]: cronlatch and other programs that lock, in one session: RUNS short runs
# (default 40), and hand-offs in BLOCKS blocks (default 3) with 1, 50 and 500 clients that wait. The programs are
# installed below build/peers, in fixed versions. A program that cannot be installed is named and left out.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=scripts/redis.sh
source "$ROOT/scripts/redis.sh"
# shellcheck source=scripts/postgres.sh
source "$ROOT/scripts/postgres.sh"
# shellcheck source=scripts/peers.sh
source "$ROOT/scripts/peers.sh"

for number in "$@"; do
  case $number in *[!0-9]* | '' | 0) echo "usage: ./dev bench peers [RUNS [BLOCKS [WAITERS...]]]" >&2 && exit 64 ;; esac
done
RUNS=${1:-40} BLOCKS=${2:-3} WAITERS=("${@:3}")
[ ${#WAITERS[@]} -gt 0 ] || WAITERS=(1 50 500)
mkdir -p "$PEERS"
gcc -O2 -Wall -Wextra -Werror -static -s -o "$PEERS/hold" "$ROOT/bench/peers/hold.c"
for peer in etcd redlock redis_py redsync; do
  reason=$("install_$peer") || echo "bench: SKIPPED: $reason" >&2
done
postgres=$(postgres_programs) || echo "bench: SKIPPED: PostgreSQL is not installed" >&2

ulimit -n 8192 2>/dev/null || true  # 500 clients of one process, and the servers
say "$RUNS short runs of each program, and $BLOCKS blocks of hand-offs with ${WAITERS[*]} clients"
exec python3 -B "$ROOT/bench/peers/main.py" --build "$PEERS" --cronlatch "$BINARY" --postgres "${postgres:-}" \
  --runs "$RUNS" --blocks "$BLOCKS" --waiters "${WAITERS[@]}"
