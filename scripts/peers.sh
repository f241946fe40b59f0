# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Other programs that lock, in fixed versions, below build/peers: for ./dev bench peers and tests/peers. Sourced.

PEERS=$ROOT/build/peers
ETCD_PACKAGES=(etcd-server=3.4.23-4+b4 etcd-client=3.4.23-4+b4)
REDIS_PY=redis==6.4.0

# install_peer WHAT FILE FUNCTION: installs what is missing below build/peers. After a failure, prints the reason.
install_peer() {
  [ ! -e "$PEERS/$2" ] || return 0
  mkdir -p "$PEERS"
  say "install $1 below build/peers"
  if ! "$3" >"$PEERS/install.log" 2>&1 || [ ! -e "$PEERS/$2" ]; then
    echo "$1 cannot be installed: $(tail -n 1 "$PEERS/install.log")"
    return 1
  fi
}
get_etcd() {
  local packages
  packages=$(mktemp -d "$PEERS/deb.XXXXXX")
  (cd "$packages" && apt-get download -q "${ETCD_PACKAGES[@]}") && for each in "$packages"/*.deb; do dpkg -x "$each" "$PEERS/etcd"; done
  rm -rf -- "$packages"
}
get_redlock() {
  mkdir -p "$PEERS/redlock" && cp "$ROOT"/bench/peers/redlock/package*.json "$PEERS/redlock/" &&
    (cd "$PEERS/redlock" && npm ci --ignore-scripts --no-audit --no-fund)
}
get_redis_py() { python3 -m pip install --no-deps --target "$PEERS/python" "$REDIS_PY"; }
get_redsync() {
  (cd "$ROOT/bench/peers/redsync" && GOPATH=$PEERS/go GOFLAGS="-mod=readonly -modcacherw" GOTOOLCHAIN=local go build -o "$PEERS/redsync" .)
}

install_etcd() { install_peer "etcd (${ETCD_PACKAGES[*]})" etcd/usr/bin/etcdctl get_etcd; }
install_redlock() {
  install_peer "redlock 4.2.0 with ioredis (npm)" redlock/node_modules/redlock get_redlock &&
    cp "$ROOT/bench/peers/redlock/agent.js" "$PEERS/redlock/"
}
install_redis_py() { install_peer "$REDIS_PY (PyPI)" python/redis get_redis_py && cp "$ROOT/bench/peers/redis_py_agent.py" "$PEERS/"; }
install_redsync() {
  [ ! "$ROOT/bench/peers/redsync/main.go" -nt "$PEERS/redsync" ] || rm -f "$PEERS/redsync"
  install_peer "redsync 4.13.0 (Go)" redsync get_redsync
}
