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

for number in "$@"; do
  case $number in *[!0-9]* | '' | 0) echo "usage: ./dev bench peers [RUNS [BLOCKS [WAITERS...]]]" >&2 && exit 64 ;; esac
done
RUNS=${1:-40} BLOCKS=${2:-3} WAITERS=("${@:3}")
[ ${#WAITERS[@]} -gt 0 ] || WAITERS=(1 50 500)
PEERS=$ROOT/build/peers
ETCD_PACKAGES=(etcd-server=3.4.23-4+b4 etcd-client=3.4.23-4+b4)
REDIS_PY=redis==6.4.0
mkdir -p "$PEERS"

# get WHAT FILE FUNCTION: installs what is missing; a failure leaves the program out.
get() {
  [ ! -e "$PEERS/$2" ] || return 0
  say "install $1 below build/peers"
  if ! "$3" >"$PEERS/install.log" 2>&1 || [ ! -e "$PEERS/$2" ]; then
    echo "bench: SKIPPED: $1 cannot be installed: $(tail -n 1 "$PEERS/install.log")" >&2
  fi
}
get_etcd() {
  local packages
  packages=$(mktemp -d "$PEERS/deb.XXXXXX")
  (cd "$packages" && apt-get download -q "${ETCD_PACKAGES[@]}") && for each in "$packages"/*.deb; do dpkg -x "$each" "$PEERS/etcd"; done
  rm -rf -- "$packages"
}
get_redlock() {
  mkdir -p "$PEERS/redlock" && cp "$ROOT"/bench/peers/redlock/* "$PEERS/redlock/" &&
    (cd "$PEERS/redlock" && npm ci --ignore-scripts --no-audit --no-fund)
}
get_redis_py() { python3 -m pip install --no-deps --target "$PEERS/python" "$REDIS_PY"; }
get_redsync() {
  (cd "$ROOT/bench/peers/redsync" && GOPATH=$PEERS/go GOFLAGS="-mod=readonly -modcacherw" GOTOOLCHAIN=local go build -o "$PEERS/redsync" .)
}

gcc -O2 -Wall -Wextra -Werror -static -s -o "$PEERS/hold" "$ROOT/bench/peers/hold.c"
get "etcd (${ETCD_PACKAGES[*]})" etcd/usr/bin/etcdctl get_etcd
get "redlock 4.2.0 with ioredis (npm)" redlock/node_modules/redlock get_redlock
get "$REDIS_PY (PyPI)" python/redis get_redis_py
get "redsync 4.13.0 (Go)" redsync get_redsync
cp "$ROOT/bench/peers/redis_py_agent.py" "$PEERS/"
postgres=$(postgres_programs) || echo "bench: SKIPPED: PostgreSQL is not installed" >&2

ulimit -n 8192 2>/dev/null || true  # 500 clients of one process, and the servers
say "$RUNS short runs of each program, and $BLOCKS blocks of hand-offs with ${WAITERS[*]} clients"
exec python3 -B "$ROOT/bench/peers/main.py" --build "$PEERS" --cronlatch "$BINARY" --postgres "${postgres:-}" \
  --runs "$RUNS" --blocks "$BLOCKS" --waiters "${WAITERS[@]}"
