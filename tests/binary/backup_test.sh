#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The commands of docs/upgrades.md for backup and restore of Redis, as they are written: in a mount and network namespace, with
# a held lock, while other runs write, and during a rewrite of the append-only file. `systemctl` and `kubectl` are doubles;
# the volume of the chart's Redis is /var/lib/redis.
set -uo pipefail
if [ "${1:-}" != inside ]; then
  if ! unshare --map-root-user --mount --net true 2>/dev/null; then
    echo "skip  backup: the commands of the page (needs root, or user namespaces)"
    exit 0
  fi
  exec unshare --map-root-user --mount --net bash "$0" inside
fi
# shellcheck source=tests/binary/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
[ -d /var/lib/redis ] || { skip "everything" "/var/lib/redis does not exist" && exit 0; }

DATA=/var/lib/redis
work=$(mktemp -d)
cd "$work" || exit 1
# shellcheck disable=SC2046  # one word for each process
trap 'kill $(jobs -p) $(cat holder.pid 2>/dev/null) 2>/dev/null; kill -9 $(cat parent.pid 2>/dev/null) 2>/dev/null; wait; cd /; rm -rf -- "$work"' EXIT

make_host() {
  mount -t tmpfs none "$DATA" || return
  printf '127.0.0.1 localhost redis.example.net\n' >hosts
  mount --bind hosts /etc/hosts || return
  python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running' || return
  make_certificates "$work" && cp ca.pem ca.crt
}
server() { cat server.pid; }
local_cli() { redis-cli -s "$work/redis.sock" "$@"; }
is_loaded() { [ "$(local_cli ping 2>/dev/null)" = PONG ]; }
# Redis is process 1 of a PID namespace, as in a container.
start_server() {
  unshare --pid --fork --kill-child redis-server --port 0 --tls-port 6379 --unixsocket "$work/redis.sock" --dir "$DATA" --save '' \
    --tls-cert-file "$work/server.pem" --tls-key-file "$work/server.key" --tls-ca-cert-file "$work/ca.pem" --tls-auth-clients no \
    --appendonly yes --appendfsync always --user admin on '>ADMIN-PASSWORD' +info '+config|get' '+config|set' >redis.log 2>&1 &
  local parent=$!
  echo "$parent" >parent.pid
  wait_until 30 is_loaded || { cat redis.log && return 1; }
  pgrep --parent "$parent" >server.pid
}
has_ended() { [ ! -d "/proc/$(server)" ]; }
# shellcheck disable=SC2317  # the commands of the page call the doubles
systemctl() {
  case $1 in
    stop) kill "$(server)" && wait_until 30 has_ended ;;
    start) start_server ;;
  esac
}
# kubectl -n cronlatch exec -i cronlatch-redis-0 -- COMMAND...: the kubelet starts a container that ended again.
# shellcheck disable=SC2317
kubectl() {
  local status=0
  [ "${*:1:6}" = "-n cronlatch exec -i cronlatch-redis-0 --" ] || return 64
  shift 6
  nsenter --target "$(server)" --pid "$@" || status=$?
  # The first copy meets a rewrite that begins and ends while it runs.
  if [ "$1" = tar ] && [ ! -e met ]; then touch met && rewrite && wait_until 30 rewrite_ended; fi
  [ "$1" != tar ] || echo copy >>copies
  case $* in *'kill 1'*) wait_until 30 has_ended && start_server ;; *) return "$status" ;; esac
}
# The day of the backup is that of the page.
# shellcheck disable=SC2317
date() { case $1 in +%F) echo 2026-11-28 ;; *) command date "$@" ;; esac; }

rewrite() { local_cli bgrewriteaof >/dev/null; }
rewriting() { local_cli info persistence | grep -q '^aof_rewrite_in_progress:1'; }
rewrite_ended() { ! rewriting; }
export -f systemctl kubectl date server local_cli is_loaded start_server has_ended rewrite rewriting rewrite_ended wait_until
export DATA work

# page NUMBER: the commands of the shell block with this number in the section about the backup.
page() {
  awk -v wanted="$1" '/^## /{ on = /backup and restore/ } on && /^ *```/ { code = !code; number += code; next } on && code && number == wanted { sub(/^ +/, ""); print }' \
    "$ROOT/docs/upgrades.md" | sed "s,/data,$DATA,g"
}
execute() { page "$1" >commands && [ -s commands ] && timeout 60 bash -eu ./commands; }

# ---- a lock that is held, and runs that write ----
export CRONLATCH_STORE=rediss://127.0.0.1:6379 CRONLATCH_TLS_CA=$work/ca.pem
hold() {
  rm -f started
  "$BINARY" run --lock reports/nightly --holder A --ttl 10m -- sh -c "touch $work/started; exec sleep 600" >holder.log 2>&1 &
  echo $! >holder.pid  # a check is a subshell
  wait_until 30 [ -e started ]
}
fence() { "$BINARY" show reports/nightly -o json | jq -r '.fence'; }
is_held() { "$BINARY" ls | grep -qE '^reports/nightly +held +A '; }
is_held_as() { "$BINARY" ls && is_held && [ "$(fence)" = "$1" ]; }
is_free() { "$BINARY" ls | grep -qE '^reports/nightly +free '; }
release() { kill "$(cat holder.pid)" && wait_until 30 is_free; }
write() { while :; do "$BINARY" run --lock other --log-level error -- true; done; }

check "a server with an append-only file" eval 'make_host && start_server'
[ "$FAILED" = 0 ] || finish
local_cli eval "for i = 1, 100 do redis.call('set', 'x' .. i, i) end" 0 >/dev/null
write >/dev/null 2>&1 &
WRITER=$!

# ---- a Redis of your own ----
check "a run holds a lock" hold
FENCE=$(fence)
local_cli config set rdb-key-save-delay 20000 >/dev/null  # a rewrite takes two seconds
check "a rewrite begins" eval 'rewrite && wait_until 30 rewriting'
check "the commands of the backup end" execute 1
one_file_of_each_kind() { [ "$(grep -c 'type b' "$1")" = 1 ] && [ "$(grep -c 'type i' "$1")" = 1 ]; }
check "they waited for the end of the rewrite" one_file_of_each_kind locks-2026-11-28/appendonly.aof.manifest
limit_is_back() { [ "$(local_cli config get auto-aof-rewrite-percentage | tail -n 1)" = 100 ]; }
check "rewrites are automatic again" limit_is_back
local_cli config set rdb-key-save-delay 0 >/dev/null
check "the run releases the lock" release
kill $WRITER && wait $WRITER 2>/dev/null

new_server() { systemctl stop && find "$DATA" -mindepth 1 -delete && start_server && ! is_held; }
check "a new server has no lock" new_server
check "the commands of the restore end" execute 3
check "the restored server contains the held lock, with its fencing token" is_held_as "$FENCE"

# ---- the Redis of the chart ----
check "another server" new_server
write >/dev/null 2>&1 &
WRITER=$!
check "a run holds a lock in it" hold
FENCE=$(fence)
check "the command of the backup ends" execute 2
repeated() { [ "$(wc -l <copies)" -ge 2 ]; }
check "it repeated the copy, because a rewrite ended meanwhile" repeated
kill $WRITER && wait $WRITER 2>/dev/null
check "the run releases the lock there" release
check "the command of the restore ends" execute 4
check "the restarted server contains the held lock, with its fencing token" is_held_as "$FENCE"
finish
